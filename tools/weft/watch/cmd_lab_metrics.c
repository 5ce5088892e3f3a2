/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab metrics: serves the state of a lab to Prometheus. */

#include "lab/cmd_lab.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "http_server.h"
#include "lab_collect.h"
#include "metrics_text.h"

#define COMMAND "lab metrics"

#define DEFAULT_LISTEN "127.0.0.1:9464"

#define STEP_MS 100
/* Scrapes at shorter intervals get the same document, so a client cannot keep a lab busy with
 * requests. */
#define FRESH_NS 200000000ull

struct exporter {
	pthread_mutex_t lock; /* guards all members: the server has its own thread */
	struct lab_watch watch;
	json_t *all; /* the last document; NULL: none */
	uint64_t at_ns;
	int result; /* result of the last query */
	struct error error;
};

static void look(struct exporter *exporter)
{
	if (exporter->all != NULL && lab_watch_now_ns() - exporter->at_ns < FRESH_NS)
		return;
	json_decref(exporter->all);
	exporter->all = lab_watch_ask(&exporter->watch, &exporter->result, &exporter->error);
	exporter->at_ns = lab_watch_now_ns();
}

static enum MHD_Result answer_metrics(struct exporter *exporter, struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	bool openmetrics = accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
	char *text = NULL;
	size_t bytes;
	FILE *out;

	look(exporter);
	if (exporter->all == NULL)
		return http_refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, exporter->error.text);
	out = open_memstream(&text, &bytes);
	if (out != NULL) {
		metrics_text(&exporter->watch.lab, exporter->all, openmetrics, out);
		fclose(out);
	}
	return http_answer_own(connection, MHD_HTTP_OK,
		openmetrics ? METRICS_OPENMETRICS_TYPE : METRICS_TEXT_TYPE, text, bytes);
}

static enum MHD_Result get(
	void *ctx, struct MHD_Connection *connection, const char *path, void *request)
{
	struct exporter *exporter = ctx;
	enum MHD_Result result;

	if (strcmp(path, "/") == 0)
		return http_answer_text(connection, MHD_HTTP_OK, "text/html; charset=utf-8",
			"<!doctype html><title>Weft</title><a href=\"/metrics\">metrics</a>\n");
	if (strcmp(path, "/metrics") != 0)
		return http_refuse(connection, MHD_HTTP_NOT_FOUND, "The only page is /metrics.\n");
	pthread_mutex_lock(&exporter->lock);
	result = answer_metrics(exporter, connection);
	pthread_mutex_unlock(&exporter->lock);
	return result;
}

static bool is_up(struct exporter *exporter)
{
	bool up;

	pthread_mutex_lock(&exporter->lock);
	up = exporter->result != -ENOENT && lab_watch_is_up(&exporter->watch);
	pthread_mutex_unlock(&exporter->lock);
	return up;
}

/* Runs until a signal arrives, or until the lab has gone down. */
static enum weft_exit serve(struct exporter *exporter, const char *address)
{
	const struct http_calls calls = {.get = get, .ctx = exporter};
	struct error error = {""};
	struct http_server *server = http_server_open("--listen", address, false, &error);

	if (server == NULL)
		return command_fail(COMMAND, error_exit_code(-errno), "%s", error.text);
	if (http_server_start(server, &calls, lab_now_ms(), &error) < 0) {
		http_server_stop(server);
		return command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
	}
	printf("http://%s/metrics\n", http_server_address(server));
	if (fflush(stdout) != 0) { /* main() reports it */
		http_server_stop(server);
		return EXIT_DONE;
	}
	if (!http_server_is_local(server))
		fprintf(stderr,
			"weft " COMMAND
			": warning: programs on other machines can also read the metrics\n");
	while (!lab_interrupted() && is_up(exporter)) {
		http_server_check(server, lab_now_ms());
		lab_sleep_ms(STEP_MS);
	}
	http_server_stop(server);
	if (lab_interrupted())
		return EXIT_DONE;
	return command_fail(
		COMMAND, EXIT_BAD_ANSWER, "lab %s is no longer up", exporter->watch.lab.plan->lab);
}

static enum weft_exit print_once(struct exporter *exporter, bool openmetrics)
{
	look(exporter);
	if (exporter->all == NULL)
		return command_fail(COMMAND,
			exporter->result == -ENOENT ? EXIT_BAD_ANSWER : EXIT_NOT_ABLE, "%s",
			exporter->error.text);
	metrics_text(&exporter->watch.lab, exporter->all, openmetrics, stdout);
	return EXIT_DONE;
}

enum weft_exit cmd_lab_metrics(const struct lab_arguments *arguments)
{
	struct exporter exporter = {.lock = PTHREAD_MUTEX_INITIALIZER};
	enum weft_exit code = lab_watch_open(&exporter.watch, arguments, COMMAND);

	if (code != EXIT_DONE)
		return code;
	lab_catch_signals();
	code = arguments->once ? print_once(&exporter, !arguments->text)
			       : serve(&exporter, arguments->listen != NULL ? arguments->listen
									    : DEFAULT_LISTEN);
	json_decref(exporter.all);
	lab_watch_close(&exporter.watch);
	return code;
}
