/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page, served by http_server.h. It does not query processes of the lab.
 *
 *   GET  /              the page and its files
 *   GET  /topology      the document of web_topology()
 *   GET  /series?number=0   of runs: the documents of cmd_web.h
 *   GET  /why           a document of 'weft why --json', or null
 *   GET  /events        server-sent events: documents of web_sample()
 *   POST /cable?port=s0:1&state=down|up   with the header Weft-Token; {"port", "state"}
 *
 * A change without the token is answered with 403. */

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "lab/lab_links.h"
#include "watch/http_server.h"

/* Viewers' commands to the lab. The server's thread queues them and suspends their connections; the
 * command's thread executes them, so a slow lab does not delay other viewers. */

struct web_order {
	char port[LAB_PORT_MAX];
	bool cut;
	int result; /* set, like 'error', when the order is done */
	struct error error;
	struct MHD_Connection *connection;
	struct web_order *next;
};

struct web_orders;

/* Returns NULL if out of memory. */
struct web_orders *web_orders_create(void);
void web_orders_destroy(struct web_orders *orders);

/* Call in the server's thread. Suspends the connection until the command is done. 'order' remains
 * the caller's, and must not be read before that. Returns false with 'result' and 'fault' set if
 * the order was refused. */
bool web_orders_add(struct web_orders *orders, struct web_order *order);

/* Takes the oldest order; call web_orders_finish() for it. Returns NULL if there is none. */
struct web_order *web_orders_take(struct web_orders *orders);
/* Call when the command is done; the order must not be accessed afterwards. */
void web_orders_finish(struct web_order *order);

/* Refuses all orders, and all later ones. */
void web_orders_end(struct web_orders *orders);

#define WEB_TOKEN_DIGITS 32

/* Returns a document as text, from malloc(); NULL if there is none. 'number' and 'from' are
 * ?number= and &from= of the request, 0 if missing. Called in the server's thread. */
typedef char *(*web_document_fn)(void *ctx, const char *path, uint64_t number, uint64_t from);

struct web_setup {
	struct web_events *events;
	struct web_orders *orders; /* NULL: nothing can be changed */
	const char *token;         /* required for changes */
	const char *topology;      /* text of the document; NULL: 'document' provides it */
	const char *why;           /* text of the document of 'weft why'; NULL: none */
	web_document_fn document;  /* provides further documents; NULL: there are none */
	void *ctx;
};

/* Reads a document of 'weft why --json'; '*text' is from malloc(). Returns 0, or -errno with error
 * set. */
int web_why_read(const char *path, char **text, struct error *error);

/* Serves the page. 'setup' and its members remain the caller's and must outlive the server. Returns
 * 0, or -errno with fault set. Call web_events_end() and web_orders_end() before
 * http_server_stop(). */
int web_server_start(struct http_server *server, const struct web_setup *setup, uint64_t now_ms,
	struct error *error);

/* Server-sent events: every viewer gets the newest event. A viewer that reads too slowly misses
 * events; one that does not read at all is closed by the server's timeout. An event is stored once
 * for all viewers, so slow viewers do not cost memory. */

struct web_events;

/* Returns NULL if out of memory. */
struct web_events *web_events_create(void);
/* Call after web_events_end(), when the server has stopped. */
void web_events_destroy(struct web_events *events);

/* Returns the endless answer to a viewer, to be queued immediately; NULL if out of memory. */
struct MHD_Response *web_events_answer(
	struct web_events *events, struct MHD_Connection *connection);

/* Returns the number of open streams. Any thread. */
unsigned web_events_viewers(struct web_events *events);

/* Sends a line of JSON to all viewers, with the next number. Takes ownership of 'line', from
 * malloc(). Any thread. */
void web_events_push(struct web_events *events, char *line);

/* Ends all streams, and any later ones immediately. */
void web_events_end(struct web_events *events);

/* The files of the page, which tools/embed-files embeds in the program. */

struct web_page {
	const char *name; /* "page.js" */
	const unsigned char *text;
	size_t bytes;
};
