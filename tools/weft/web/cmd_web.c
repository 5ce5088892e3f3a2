/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft web: the page of a result. */

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd_web.h"

static const char usage[] =
	"usage: weft web RESULT.json [--why FILE] [--listen ADDRESS:PORT]\n"
	"\n"
	"Serves a page on this machine that draws the fabric of a result of 'weft run': the load of its\n"
	"links (measure.links, for each sample measure.link-series), the waiting times of its switches\n"
	"as a map (measure.switches), and its series over time (measure.sample). Ctrl-C ends it.\n"
	"  --why FILE              a document of 'weft why --json': waterfalls of packets of the run\n"
	"  --listen ADDRESS:PORT   where the page is served (" WEB_RUN_LISTEN ")\n"
	"Exit: 0 ended by Ctrl-C, 2 bad request, 3 not able.\n";

static enum weft_exit show_result(const char *path, const char *why, const char *listen)
{
	struct web_show show;
	struct error error;
	struct web_run *run = web_run_read(path, &error);
	enum weft_exit exit;

	if (run == NULL)
		return command_fail("web", error_exit_code(-errno), "%s", error.text);
	exit = web_show_open(&show, "web", "--listen", listen);
	if (exit == EXIT_DONE)
		exit = web_show_start(&show, run, why);
	while (exit == EXIT_DONE) {
		int number = web_show_wait(&show);

		if (number != 0 && number != SIGCHLD)
			break;
	}
	web_show_close(&show);
	web_run_destroy(run);
	return exit;
}

int cmd_web(int argc, char **argv)
{
	static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
		{"why", required_argument, NULL, 'w'}, {NULL, 0, NULL, 0}};
	const char *listen = NULL, *why = NULL;
	struct error error;
	char *text = NULL;
	int option, code;

	if (command_wants_help(argc, argv)) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	argv[0] = (char *)"weft web"; /* begins the messages of getopt_long() */
	while ((option = getopt_long(argc, argv, "l:", options, NULL)) != -1) {
		if (option == 'w')
			why = optarg;
		else if (option == 'l')
			listen = optarg;
		else
			return EXIT_BAD_REQUEST;
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return EXIT_BAD_REQUEST;
	}
	if (why != NULL) {
		int result = web_why_read(why, &text, &error);

		if (result < 0)
			return command_error("web", result, &error);
	}
	code = show_result(argv[optind], text, listen);
	free(text);
	return code;
}
