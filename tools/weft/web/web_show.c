/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The server of the page of a run. */

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd_web.h"
#include "common/child_process.h"
#include "lab/lab_query.h"

#define STEP_NS 100000000 /* between two looks at the run */
#define EACH_S  1         /* a viewer hears at least as often that the server is there */

enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen)
{
	struct error error = {""};

	*show = (struct web_show){.command = command};
	child_signals_block(&show->signals, &show->before);
	show->server =
		http_server_open(option, listen != NULL ? listen : WEB_RUN_LISTEN, true, &error);
	if (show->server != NULL)
		return EXIT_DONE;
	return command_fail(command, error_exit_code(-errno), "%s", error.text);
}

enum weft_exit web_show_start(struct web_show *show, struct web_run *run, const char *why)
{
	struct error error = {"no memory"};

	show->run = run;
	show->setup = (struct web_setup){.events = web_events_create(),
		.why = why,
		.document = web_run_document,
		.ctx = run};
	show->started = show->setup.events != NULL &&
			web_server_start(show->server, &show->setup, lab_now_ms(), &error) == 0;
	if (!show->started)
		return command_fail(show->command, EXIT_NOT_ABLE, "%s", error.text);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* the run's line of progress */
	printf("http://%s/\n", http_server_address(show->server));
	if (fflush(stdout) == 0)
		return EXIT_DONE;
	return command_fail(show->command, EXIT_NOT_ABLE, "standard output: cannot be written: %s",
		strerror(errno));
}

int web_show_wait(struct web_show *show)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	int number = sigtimedwait(&show->signals, NULL, &step);
	uint64_t version;

	if (!show->started)
		return number > 0 ? number : 0;
	http_server_check(show->server, lab_now_ms());
	if (web_events_viewers(show->setup.events) > 0) {
		version = web_run_version(show->run);
		if (version != show->told || child_clock() - show->told_at >= EACH_S) {
			web_events_push(show->setup.events, web_run_event(show->run));
			show->told = version;
			show->told_at = child_clock();
		}
	}
	return number > 0 ? number : 0;
}

void web_show_close(struct web_show *show)
{
	if (show->started)
		web_events_end(show->setup.events);
	http_server_stop(show->server);
	web_events_destroy(show->setup.events);
	sigprocmask(SIG_SETMASK, &show->before, NULL);
}
