/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The server of the page of a run. */

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child_process.h"
#include "cmd_web.h"

#define STEP_NS 100000000 /* between two looks at the run */
#define EACH_S  1         /* a viewer hears at least as often that the server is there */

enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen)
{
	const char *address = listen != NULL ? listen : WEB_RUN_LISTEN;
	struct fault fault = {""};
	uint16_t port;
	int result;

	*show = (struct web_show){.command = command, .fd = -1};
	child_signals_block(&show->signals, &show->before);
	show->v6 = strchr(address, ':') != strrchr(address, ':');
	result = show->fd = web_listen(option, address, &port, &fault);
	if (result >= 0)
		result = web_guard_make(&show->guard, port, &fault);
	if (result >= 0)
		return EXIT_DONE;
	return command_fail(command, fault_exit_code(result), "%s", fault.text);
}

enum weft_exit web_show_start(struct web_show *show, struct web_run *run)
{
	struct fault fault = {"no memory"};

	show->run = run;
	show->setup = (struct web_setup){.guard = &show->guard,
		.events = web_events_create(),
		.document = web_run_document,
		.ctx = run};
	if (show->setup.events != NULL) {
		show->server = web_server_start(show->fd, &show->setup, &fault);
		show->fd = -1;
	}
	if (show->server == NULL)
		return command_fail(show->command, EXIT_NOT_ABLE, "%s", fault.text);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* the run's line of progress */
	printf("http://%s/\n", show->guard.host[show->v6 ? WEB_HOST_V6 : WEB_HOST_V4]);
	fflush(stdout);
	return EXIT_DONE;
}

int web_show_wait(struct web_show *show)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	int number = sigtimedwait(&show->signals, NULL, &step);
	uint64_t version;

	if (show->server != NULL && web_events_viewers(show->setup.events) > 0) {
		version = web_run_version(show->run);
		if (version != show->told || child_clock() - show->told_at >= EACH_S) {
			web_events_publish(show->setup.events, web_run_event(show->run));
			show->told = version;
			show->told_at = child_clock();
		}
	}
	return number > 0 ? number : 0;
}

void web_show_close(struct web_show *show)
{
	if (show->server != NULL) {
		web_events_end(show->setup.events);
		web_server_stop(show->server);
	}
	web_events_destroy(show->setup.events);
	if (show->fd >= 0)
		close(show->fd);
	sigprocmask(SIG_SETMASK, &show->before, NULL);
}
