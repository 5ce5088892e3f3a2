/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft web: the page of a result. 'weft run --web' shows its own when the run has ended. */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_lab.h"
#include "cmd_web.h"
#include "web_listen.h"
#include "web_result.h"
#include "web_server.h"

#define STEP_MS 50
#define EACH_MS 1000 /* a viewer that comes waits so long */

static const char usage[] =
	"usage: weft web RESULT.json [--listen ADDRESS:PORT]\n"
	"\n"
	"Serves a page on this machine that draws the fabric of a result of 'weft run': the load of its\n"
	"links (measure.links), the waiting times of its switches as a map (measure.switches), and its\n"
	"series over time (measure.sample). Ctrl-C ends it.\n"
	"  --listen ADDRESS:PORT   where the page is served (" WEB_RESULT_LISTEN ")\n";

static void serve_until_signal(struct web_setup *setup, const struct web_result *result)
{
	uint64_t next_ms = 0;

	while (!lab_interrupted()) {
		if (web_events_viewers(setup->events) > 0 && lab_now_ms() >= next_ms) {
			web_events_publish(setup->events, json_dumps(result->sample, JSON_COMPACT));
			next_ms = lab_now_ms() + EACH_MS;
		}
		lab_sleep_ms(STEP_MS);
	}
	web_events_end(setup->events);
}

/* Takes the socket. */
static enum weft_exit serve(
	const char *command, int fd, uint16_t port, bool v6, const struct web_result *result)
{
	struct web_setup setup = {.events = web_events_create()};
	char *topology = json_dumps(result->topology, JSON_COMPACT);
	struct web_server *server = NULL;
	struct web_guard guard;
	struct fault fault = {"no memory"};
	int code = web_guard_make(&guard, port, &fault);

	setup.guard = &guard;
	setup.topology = topology;
	if (code == 0 && topology != NULL && setup.events != NULL)
		server = web_server_start(fd, &setup, &fault);
	else
		close(fd);
	if (server != NULL) {
		printf("http://%s/\n", guard.host[v6 ? WEB_HOST_V6 : WEB_HOST_V4]);
		fflush(stdout);
		serve_until_signal(&setup, result);
		web_server_stop(server);
	}
	free(topology);
	web_events_destroy(setup.events);
	return server != NULL ? EXIT_DONE : command_fail(command, EXIT_NOT_ABLE, "%s", fault.text);
}

enum weft_exit web_show_result(const char *command, const char *path, const char *listen)
{
	const char *address = listen != NULL ? listen : WEB_RESULT_LISTEN;
	bool v6 = strchr(address, ':') != strrchr(address, ':');
	struct web_result result;
	struct fault fault;
	enum weft_exit exit;
	uint16_t port;
	int fd, code = web_result_read(&result, path, &fault);

	if (code < 0)
		return command_fail(command, fault_exit_code(code), "%s", fault.text);
	lab_catch_signals();
	fd = web_listen(address, &port, &fault);
	exit = fd < 0 ? command_fail(command, fault_exit_code(fd), "%s", fault.text)
		      : serve(command, fd, port, v6, &result);
	web_result_free(&result);
	return exit;
}

int cmd_web(int argc, char **argv)
{
	static const struct option options[] = {
		{"listen", required_argument, NULL, 'l'}, {NULL, 0, NULL, 0}};
	const char *listen = NULL;
	int option;

	if (command_wants_help(argc, argv)) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	argv[0] = (char *)"weft web"; /* begins the messages of getopt_long() */
	while ((option = getopt_long(argc, argv, "l:", options, NULL)) != -1) {
		if (option != 'l')
			return EXIT_BAD_REQUEST;
		listen = optarg;
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return EXIT_BAD_REQUEST;
	}
	return web_show_result("web", argv[optind], listen);
}
