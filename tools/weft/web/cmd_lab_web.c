/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab web: a page that shows a lab. The main thread queries the lab and switches cables; the
 * server has its own thread. */

#include "lab/cmd_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cmd_web.h"
#include "common/child_process.h"
#include "lab/lab_links.h"
#include "watch/lab_collect.h"
#include "web_server.h"

#define COMMAND "lab web"

#define DEFAULT_LISTEN "127.0.0.1:9465"
#define STEP_MS        20
#define SOON_MS        200 /* minimum time between the last query and the query after a command */
#define DIGITS         6   /* for rates and shares */

struct web {
	struct lab_watch watch;
	struct http_server *server;
	struct web_setup setup;
	char token[WEB_TOKEN_DIGITS + 1];
	char *topology;
	char *why;   /* NULL: none */
	char id[17]; /* identifies the topology, for pages that are still open */
	uint64_t interval_ms;
	json_t *before; /* the last document; NULL: none */
	uint64_t before_ns;
	uint64_t next_ms; /* look then */
};

/* Queries the lab, and updates the viewers. Returns 0, or -errno with error set. */
static int look(struct web *web, struct error *error)
{
	int result = 0;
	json_t *now = lab_watch_ask(&web->watch, &result, error), *sample;
	uint64_t now_ns = lab_watch_now_ns();
	double seconds = web->before != NULL ? (double)(now_ns - web->before_ns) / 1e9 : 0;

	if (now == NULL)
		return result;
	sample = web_sample(&web->watch.lab, web->before != NULL ? web->before : now, now, seconds);
	json_object_set_new(sample, "id", json_string(web->id));
	web_events_push(
		web->setup.events, json_dumps(sample, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)));
	json_decref(sample);
	json_decref(web->before);
	web->before = now;
	web->before_ns = now_ns;
	return 0;
}

/* Without viewers the lab is not queried; the next viewer does not get rates for that time. */
static void rest(struct web *web)
{
	json_decref(web->before);
	web->before = NULL;
	web->next_ms = 0;
}

static void carry_out(struct web *web, struct web_order *order)
{
	struct lab_cable cable;

	order->result = lab_cable_find(&web->watch.lab, order->port, &cable, &order->error);
	if (order->result == 0) {
		cable.cut = order->cut;
		order->result =
			lab_cable_order(&web->watch.lab, &web->watch.state, &cable, &order->error);
	}
	web_orders_finish(order);
}

/* Runs until a signal arrives, or until the lab has gone down. Returns 0, or -errno with error
 * set. */
static int watch_lab(struct web *web, struct error *error)
{
	int result = 0;

	while (result == 0 && !lab_interrupted()) {
		struct web_order *order;
		uint64_t soon = web->before_ns / 1000000 + SOON_MS;

		/* Executes all pending orders; their effect is shown soon. */
		while ((order = web_orders_take(web->setup.orders)) != NULL) {
			carry_out(web, order);
			web->next_ms = soon < web->next_ms ? soon : web->next_ms;
		}
		http_server_check(web->server, lab_now_ms());
		if (!lab_watch_is_up(&web->watch))
			return error_set(
				error, ENOENT, "lab %s is no longer up", web->watch.lab.plan->lab);
		if (web_events_viewers(web->setup.events) == 0)
			rest(web);
		else if (lab_now_ms() >= web->next_ms) {
			web->next_ms = lab_now_ms() + web->interval_ms;
			result = look(web, error);
		}
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

static enum weft_exit serve(struct web *web)
{
	struct error error = {""};
	int result = web_server_start(web->server, &web->setup, lab_now_ms(), &error);

	if (result < 0)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
	printf("http://%s/#token=%s\n", http_server_address(web->server), web->token);
	result = fflush(stdout) == 0 ? watch_lab(web, &error) : 0; /* main() reports the output */
	web_events_end(web->setup.events);
	web_orders_end(web->setup.orders);
	if (result == 0)
		return EXIT_DONE;
	return command_fail(
		COMMAND, result == -ENOENT ? EXIT_BAD_ANSWER : EXIT_NOT_ABLE, "%s", error.text);
}

static bool make_token(struct web *web)
{
	uint8_t random[WEB_TOKEN_DIGITS / 2];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return false;
	for (unsigned i = 0; i < sizeof(random); i++)
		snprintf(web->token + 2 * i, 3, "%02x", random[i]);
	return true;
}

/* Creates the document of the fabric. Its id tells a page whether the data that it receives is
 * still about that fabric. */
static void make_topology(struct web *web)
{
	json_t *topology = web_topology(web->watch.lab.topology, web->watch.lab.plan->lab,
		run_config_vcs(&web->watch.lab.config->run));
	char *text = json_dumps(topology, JSON_COMPACT);

	if (text != NULL)
		snprintf(web->id, sizeof(web->id), "%016" PRIx64,
			content_hash(CONTENT_HASH_START, text, strlen(text)));
	free(text);
	json_object_set_new(topology, "id", json_string(web->id));
	web->topology = json_dumps(topology, JSON_COMPACT);
	json_decref(topology);
}

static enum weft_exit open_and_serve(struct web *web, const struct lab_arguments *arguments)
{
	struct error error = {""};

	if (arguments->why != NULL) {
		int result = web_why_read(arguments->why, &web->why, &error);

		if (result < 0)
			return command_error(COMMAND, result, &error);
	}
	web->server = http_server_open("--listen",
		arguments->listen != NULL ? arguments->listen : DEFAULT_LISTEN, true, &error);
	if (web->server == NULL)
		return command_fail(COMMAND, error_exit_code(-errno), "%s", error.text);
	make_topology(web);
	web->setup = (struct web_setup){.events = web_events_create(),
		.orders = web_orders_create(),
		.token = web->token,
		.why = web->why,
		.topology = web->topology};
	if (web->topology == NULL || web->setup.events == NULL || web->setup.orders == NULL)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	if (!make_token(web))
		return command_fail(
			COMMAND, EXIT_NOT_ABLE, "cannot get random numbers for the token");
	return serve(web);
}

enum weft_exit cmd_lab_web(const struct lab_arguments *arguments)
{
	struct web web = {.interval_ms = arguments->interval_ps / PS_PER_MS};
	enum weft_exit code = lab_watch_open(&web.watch, arguments, COMMAND);

	if (code != EXIT_DONE)
		return code;
	lab_catch_signals();
	code = open_and_serve(&web, arguments);
	http_server_stop(web.server);
	json_decref(web.before);
	web_events_destroy(web.setup.events);
	web_orders_destroy(web.setup.orders);
	free(web.topology);
	free(web.why);
	lab_watch_close(&web.watch);
	return code;
}
