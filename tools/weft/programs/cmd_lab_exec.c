/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab exec, shell and hosts: run programs in the hosts of a lab. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_hosts.h"

/* Joins the words into one command line for a shell, as ssh and rsh do, because 'weft lab mpirun'
 * uses this command in place of ssh. Returns NULL if out of memory; the caller frees the line. */
static char *join(char *const *word, unsigned words)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);
	bool whole;

	if (out == NULL)
		return NULL;
	for (unsigned i = 0; i < words; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", word[i]);
	/* A truncated line would be a different command. */
	whole = ferror(out) == 0;
	whole = fclose(out) == 0 && whole;
	if (whole)
		return line;
	free(line);
	return NULL;
}

/* Runs 'argv' in the host that the first word names. */
static enum weft_exit run(
	const struct lab_arguments *arguments, const char *command, char *const *argv)
{
	const struct run_config_edge *edge;
	struct lab_hosts hosts;
	enum weft_exit code = lab_hosts_open(&hosts, arguments, command, true);

	if (code != EXIT_DONE)
		return code;
	edge = lab_hosts_find(&hosts, arguments->word[0]);
	/* 'weft lab mpirun' has chosen endpoints. */
	if (edge != NULL && edge->netns[0] == '\0' && !arguments->joined)
		fprintf(stderr,
			"weft %s: lab %s has no 'edges': the program uses this machine's network, and reaches the lab only through an endpoint\n",
			command, hosts.lab.plan->lab);
	code = edge != NULL ? lab_hosts_exec(&hosts, edge, argv) : EXIT_BAD_REQUEST;
	lab_hosts_close(&hosts);
	return code;
}

enum weft_exit cmd_lab_exec(const struct lab_arguments *arguments)
{
	char *const *argv = arguments->word + 1;
	char *shell[] = {(char *)"/bin/sh", (char *)"-c", NULL, NULL};
	enum weft_exit code;

	if (strcmp(argv[0], "--") == 0)
		argv++;
	if (argv[0] == NULL)
		return command_fail("lab exec", EXIT_BAD_REQUEST, "a command is required after --");
	if (!arguments->joined)
		return run(arguments, "lab exec", argv);
	shell[2] = join(argv, arguments->words - (unsigned)(argv - arguments->word));
	if (shell[2] == NULL)
		return command_fail("lab exec", EXIT_NOT_ABLE, "out of memory");
	code = run(arguments, "lab exec", shell);
	free(shell[2]);
	return code;
}

enum weft_exit cmd_lab_shell(const struct lab_arguments *arguments)
{
	const char *program = getenv("SHELL");
	char *argv[] = {(char *)(program != NULL && program[0] == '/' ? program : "/bin/sh"), NULL};

	return run(arguments, "lab shell", argv);
}

enum weft_exit cmd_lab_hosts(const struct lab_arguments *arguments)
{
	struct lab_hosts hosts;
	enum weft_exit code = lab_hosts_open(&hosts, arguments, "lab hosts", false);

	if (code != EXIT_DONE)
		return code;
	lab_hosts_print(&hosts, stdout);
	lab_hosts_close(&hosts);
	return EXIT_DONE;
}
