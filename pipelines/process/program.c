/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "program.h"

#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option_key.h"

/* Global, because a signal handler has no other access. */
static atomic_bool stop;

static void on_signal(int number)
{
	atomic_store(&stop, true);
}

void program_catch_also(int number)
{
	/* Writes to captures that are pipes continue after a signal, or frames would be lost. */
	const struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};

	sigaction(number, &action, NULL);
}

const atomic_bool *program_catch_signals(void)
{
	program_catch_also(SIGINT);
	program_catch_also(SIGTERM);
	signal(SIGPIPE, SIG_IGN);
	return &stop;
}

const char *program_name(const char *own)
{
	const char *typed = getenv(PROGRAM_COMMAND);

	return typed != NULL ? typed : own;
}

int program_separator(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return 0;
}

/* Exits if a long option is unknown. argp would print the same message without a hint. */
static void check_options(const struct argp *argp, unsigned flags, int argc, char **argv)
{
	struct option known[OPTION_KNOWN_MAX + 1];
	char name[OPTION_NAME_MAX], hint[OPTION_HINT_MAX];

	option_of_argp(argp->options, known);
	if (!option_find_unknown(known, (flags & ARGP_IN_ORDER) != 0, argc, argv, name, hint))
		return;
	fprintf(stderr, "%s: unrecognized option '--%s'%s\n", argv[0], name, hint);
	exit(EXIT_BAD_REQUEST);
}

void program_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *options)
{
	int first = program_separator(argc, argv);
	char *separator = argv[first], *slash = strrchr(argv[0], '/');
	const char *own = slash != NULL ? slash + 1 : argv[0];

	argp_err_exit_status = EXIT_BAD_REQUEST;
	/* Messages start with the command, or with the program's name without its folder. */
	argv[first] = (char *)program_name(own);
	for (int i = first + 1; i < argc; i++)
		if (strcmp(argv[i], "-h") == 0)
			argv[i] = (char *)"--help";
	check_options(argp, flags, argc - first, argv + first);
	argp_parse(argp, argc - first, argv + first, flags, NULL, options);
	argv[first] = separator;
}

int program_become(const char *name, char **argv, struct error *error)
{
	static const char *const folder[] = {"", PROGRAM_FOLDER "/"};
	char own[PATH_MAX], path[PATH_MAX + NAME_MAX];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0)
		return error_set(error, errno, "/proc/self/exe: %s", strerror(errno));
	while (length > 0 && own[length - 1] != '/')
		length--;
	for (unsigned i = 0; i < sizeof(folder) / sizeof(folder[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", folder[i][0] == '/' ? 0 : (int)length, own,
			folder[i], name);
		execv(path, argv);
		if (errno != ENOENT)
			return error_set(error, errno, "%s: %s", path, strerror(errno));
	}
	return error_set(error, ENOENT, "%s: not installed", name);
}
