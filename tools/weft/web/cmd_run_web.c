/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft run --web: the page of a run in progress, and then of its result. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd_web.h"
#include "common/child_process.h"

#define COMMAND     "run"
#define MORE_WORDS  5 /* --json=, --live=, --set and its value, NULL */
#define LINK_SERIES "measure.link-series=true"

struct shown_run {
	struct web_show show;
	struct web_run *run;
	const char *json; /* path of the result */
	FILE *own;        /* an unlinked file, so that none is left behind; NULL: the user's file */
	char own_path[32];
	int samples; /* the stream (run_stream.h); -1: none */
	bool add_links;
	pid_t pid;
	int status;   /* from waitpid() */
	bool told;    /* a signal asked the run to end */
	bool leaving; /* a signal requested the end of the page as well as the run */
};

/* Samples include links unless there are too many samples and links. */
static void choose_links(
	struct shown_run *shown, struct run_config *config, const struct topology *topology)
{
	struct error error;

	if (config->measure.link_series)
		return;
	config->measure.link_series = true;
	shown->add_links = run_config_check_link_series(config, topology, &error) == 0;
	config->measure.link_series = shown->add_links;
	if (!shown->add_links)
		fprintf(stderr,
			"weft run: --web: links are drawn only after the run, with their mean values: %s\n",
			error.text);
}

/* Runs in the child; does not return. */
static void become(char **words, const sigset_t *mask, pid_t parent)
{
	child_become(parent, mask);
	program_path_exec(words[0], words);
	command_fail(COMMAND, EXIT_NOT_ABLE, "cannot start %s: %s", words[0], strerror(errno));
	_exit(EXIT_NOT_ABLE);
}

/* Starts weft-fabric with the words of the command and additional options. Returns 0 or -errno. */
static int start(struct shown_run *shown, int argc, char **argv)
{
	static char name[] = "weft-fabric", set[] = "--set", series[] = LINK_SERIES;
	char **words = calloc((size_t)argc + MORE_WORDS, sizeof(*words));
	char json[sizeof(shown->own_path) + 8], live[32];
	pid_t parent = getpid();
	int count = argc;

	if (words == NULL)
		return -ENOMEM;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[0] = name;
	snprintf(json, sizeof(json), "--json=%s", shown->own_path);
	snprintf(live, sizeof(live), "--live=%d", shown->samples);
	words[count++] = live;
	if (shown->own != NULL)
		words[count++] = json;
	if (shown->add_links) {
		words[count++] = set;
		words[count++] = series;
	}
	shown->pid = fork();
	if (shown->pid == 0)
		become(words, &shown->show.before, parent);
	free(words);
	return shown->pid > 0 ? 0 : -errno;
}

static void obey(struct shown_run *shown, int number)
{
	if (number == 0 || number == SIGCHLD)
		return;
	child_signal(shown->pid, SIGINT);
	shown->told = true;
	shown->leaving |= number != SIGINT;
}

static enum weft_exit refuse_stream(void)
{
	return command_fail(COMMAND, EXIT_NOT_ABLE,
		"--web: cannot read the samples from weft-fabric; install weft-fabric of version "
		"" WEFT_VERSION);
}

/* Reads what the run has sent, and starts the page with the first data. Returns EXIT_DONE, or the
 * exit code if it cannot be shown. */
static enum weft_exit look(struct shown_run *shown)
{
	int result = web_run_follow(shown->run);

	if (result < 0)
		return refuse_stream();
	if (result == 0 || shown->show.started)
		return EXIT_DONE;
	return web_show_start(&shown->show, shown->run, NULL);
}

/* Shows the run until it ends; ends a run that cannot be shown. Returns EXIT_DONE or the exit
 * code. */
static enum weft_exit follow(struct shown_run *shown)
{
	enum weft_exit exit = EXIT_DONE;
	bool ended = false;

	while (!ended) {
		obey(shown, web_show_wait(&shown->show));
		/* Checked before the data is read, so that data that arrives in between is not
		 * missed. */
		ended = waitpid(shown->pid, &shown->status, WNOHANG) != 0;
		if (exit != EXIT_DONE)
			continue;
		exit = look(shown);
		if (exit != EXIT_DONE)
			child_signal(shown->pid, SIGINT);
	}
	return exit;
}

/* Shows the result until a signal arrives. */
static int show_result(struct shown_run *shown, int code)
{
	struct error error;
	int result = web_run_end(shown->run, shown->json, &error), number;

	if ((result == -EINVAL || result == -ENOENT) && code == EXIT_INTERRUPTED)
		return code; /* before the result was written, or only part of it was */
	if (result < 0)
		return command_error(COMMAND, result, &error);
	close(shown->samples); /* kept in memory until they are in the result */
	shown->samples = -1;
	if (isatty(STDERR_FILENO))
		fputs("weft run: the page shows the result until Ctrl-C\n", stderr);
	do {
		number = web_show_wait(&shown->show);
	} while (number == 0 || number == SIGCHLD);
	return code;
}

static int run_and_show(struct shown_run *shown, int argc, char **argv, const char *listen)
{
	enum weft_exit exit = web_show_open(&shown->show, COMMAND, "--web", listen);
	int result, code;

	if (exit != EXIT_DONE)
		return exit;
	result = start(shown, argc, argv);
	if (result < 0)
		return command_fail(
			COMMAND, EXIT_NOT_ABLE, "cannot start weft-fabric: %s", strerror(-result));
	exit = follow(shown);
	if (exit != EXIT_DONE)
		return exit;
	if (!WIFEXITED(shown->status) && shown->told)
		return EXIT_INTERRUPTED; /* by a signal before it had started, or by a second one */
	if (!WIFEXITED(shown->status))
		return command_fail(COMMAND, EXIT_NOT_ABLE, "weft-fabric was ended by signal %d",
			WTERMSIG(shown->status));
	code = WEXITSTATUS(shown->status);
	if (code != EXIT_DONE && code != EXIT_BAD_ANSWER &&
		(code != EXIT_INTERRUPTED || !shown->show.started))
		return code;
	if (!shown->show.started)
		return refuse_stream();
	return shown->leaving ? EXIT_INTERRUPTED : show_result(shown, code);
}

static int open_files(struct shown_run *shown, const char *json)
{
	shown->samples = memfd_create("weft-samples", 0);
	if (shown->samples < 0)
		return -errno;
	shown->json = json;
	if (json != NULL)
		return 0;
	shown->own = tmpfile(); /* weft-fabric inherits it */
	if (shown->own == NULL)
		return -errno;
	snprintf(shown->own_path, sizeof(shown->own_path), "/proc/self/fd/%d", fileno(shown->own));
	shown->json = shown->own_path;
	return 0;
}

int web_show_run(int argc, char **argv, struct run_config *config, const char *file,
	const char *json, const char *listen)
{
	struct shown_run shown = {.samples = -1};
	struct error error = {"out of memory"};
	struct topology *topology = run_config_open_topology(config, &error);
	int result = topology == NULL ? -errno : 0, code;

	if (result == 0) {
		choose_links(&shown, config, topology);
		result = open_files(&shown, json);
		if (result < 0)
			error_set(&error, -result, "cannot create a file for the run: %s",
				strerror(-result));
	}
	if (result == 0) {
		shown.run = web_run_create(config, topology, file, shown.samples);
		result = shown.run != NULL ? 0 : -ENOMEM;
	}
	if (result == 0) {
		code = run_and_show(&shown, argc, argv, listen);
		web_show_close(&shown.show);
	} else
		code = command_error(COMMAND, result, &error);
	web_run_destroy(shown.run);
	if (shown.samples >= 0)
		close(shown.samples);
	if (shown.own != NULL)
		fclose(shown.own);
	topology_destroy(topology);
	return code;
}
