/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab metrics: a lab for Prometheus. */

#include "cmd_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_server.h"
#include "lab_watch.h"
#include "metrics_text.h"

#define COMMAND "lab metrics"

#define DEFAULT_LISTEN "127.0.0.1:9464"

#define WAIT_MS 250
/* Scrapes that come faster than this get the same document: nobody can keep a lab busy with
 * answering. */
#define FRESH_NS 200000000ull

struct exporter {
	struct lab_watch watch;
	json_t *all; /* the last document; NULL: none */
	uint64_t at_ns;
	int result; /* of the last look */
	struct fault fault;
};

static void look(struct exporter *exporter)
{
	if (exporter->all != NULL && lab_watch_now_ns() - exporter->at_ns < FRESH_NS)
		return;
	json_decref(exporter->all);
	exporter->all = lab_watch_ask(&exporter->watch, &exporter->result, &exporter->fault);
	exporter->at_ns = lab_watch_now_ns();
}

static void print_page(struct http_page *page, const char *text)
{
	page->text = strdup(text);
	page->bytes = page->text != NULL ? strlen(text) : 0;
}

static void print_metrics(
	struct exporter *exporter, const struct http_request *request, struct http_page *page)
{
	bool openmetrics = strstr(request->accept, "application/openmetrics-text") != NULL;
	FILE *out = open_memstream(&page->text, &page->bytes);

	if (out == NULL)
		return;
	page->status = 200;
	page->type = openmetrics ? METRICS_OPENMETRICS_TYPE : METRICS_TEXT_TYPE;
	metrics_text(&exporter->watch.lab, exporter->all, openmetrics, out);
	fclose(out);
}

static void make_page(void *ctx, const struct http_request *request, struct http_page *page)
{
	struct exporter *exporter = ctx;

	if (strcmp(request->path, "/") == 0) {
		page->status = 200;
		page->type = "text/html; charset=utf-8";
		print_page(page,
			"<!doctype html><title>Weft</title><a href=\"/metrics\">metrics</a>\n");
		return;
	}
	if (strcmp(request->path, "/metrics") != 0) {
		print_page(page, "There is only /metrics here.\n");
		return;
	}
	look(exporter);
	page->status = 503;
	if (exporter->all != NULL)
		print_metrics(exporter, request, page);
	else
		print_page(page, exporter->fault.text);
}

/* Until a signal, or until the lab has gone down. */
static enum weft_exit serve(struct exporter *exporter, const char *address)
{
	struct fault fault = {""};
	struct http_server *server = http_server_start(address, make_page, exporter, &fault);
	bool runs = true;

	if (server == NULL)
		return command_fail(COMMAND, fault_exit_code(-errno), "%s", fault.text);
	printf("http://%s/metrics\n", http_server_address(server));
	fflush(stdout);
	if (!http_server_is_local(server))
		fprintf(stderr,
			"weft " COMMAND
			": warning: not only programs of this machine can read the metrics\n");
	while (runs && !lab_interrupted() && exporter->result != -ENOENT &&
		lab_watch_is_up(&exporter->watch))
		runs = http_server_run(server, WAIT_MS);
	http_server_stop(server);
	if (lab_interrupted())
		return EXIT_DONE;
	if (!runs)
		return command_fail(COMMAND, EXIT_NOT_ABLE, "the server cannot go on");
	return command_fail(COMMAND, EXIT_BAD_ANSWER, "lab %s is not up any more",
		exporter->watch.lab.plan->lab);
}

static enum weft_exit print_once(struct exporter *exporter, bool openmetrics)
{
	look(exporter);
	if (exporter->all == NULL)
		return command_fail(COMMAND,
			exporter->result == -ENOENT ? EXIT_BAD_ANSWER : EXIT_NOT_ABLE, "%s",
			exporter->fault.text);
	metrics_text(&exporter->watch.lab, exporter->all, openmetrics, stdout);
	return EXIT_DONE;
}

enum weft_exit cmd_lab_metrics(const struct lab_arguments *arguments)
{
	struct exporter exporter = {.all = NULL};
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
