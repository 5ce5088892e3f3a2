/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page, served by http_server.h. It does not talk to processes of the lab.
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
 * command's thread carries them out, so a slow lab does not delay other viewers. */

struct web_order {
	char port[LAB_PORT_MAX];
	bool cut;
	int result; /* filled with 'error' when it is done */
	struct error error;
	struct MHD_Connection *connection;
	struct web_order *next;
};

struct web_orders;

/* Returns NULL if out of memory. */
struct web_orders *web_orders_create(void);
void web_orders_destroy(struct web_orders *orders);

/* In the server's thread. Suspends the connection until the command is done; 'order', which stays
 * the caller's, must not be read before that. Returns false if it was refused, with 'result' and
 * 'fault'. */
bool web_orders_add(struct web_orders *orders, struct web_order *order);

/* The oldest order, after which web_orders_finish() must be called, or NULL. */
struct web_order *web_orders_take(struct web_orders *orders);
/* The command is done; the order may now disappear. */
void web_orders_finish(struct web_order *order);

/* Refuses all orders, and from now on refuses new ones at once. */
void web_orders_end(struct web_orders *orders);

#define WEB_TOKEN_DIGITS 32

/* A document as text, from malloc(); NULL if there is none. 'number' and 'from' are ?number= and
 * &from= of the request, 0 if they are missing. In the server's thread. */
typedef char *(*web_document_fn)(void *ctx, const char *path, uint64_t number, uint64_t from);

struct web_setup {
	struct web_events *events;
	struct web_orders *orders; /* NULL: nothing can be changed */
	const char *token;         /* required for changes */
	const char *topology;      /* text of the document; NULL: 'document' has it */
	const char *why;           /* text of the document of 'weft why'; NULL: none */
	web_document_fn document;  /* NULL: there are no others */
	void *ctx;
};

/* Reads a document of 'weft why --json'; '*text' is from malloc(). Returns 0, or -errno with error
 * set. */
int web_why_read(const char *path, char **text, struct error *error);

/* Serves the page. 'setup' and its members stay the caller's and must outlive the server. Returns
 * 0, or -errno with fault set. Call web_events_end() and web_orders_end() before
 * http_server_stop(). */
int web_server_start(struct http_server *server, const struct web_setup *setup, uint64_t now_ms,
	struct error *error);

/* Server-sent events: every viewer gets the newest event. A viewer that reads too slowly misses
 * those in between; one that does not read at all is closed by the server's timeout. An event is
 * stored once for all viewers, so slow viewers do not cost memory. */

struct web_events;

/* Returns NULL if out of memory. */
struct web_events *web_events_create(void);
/* Call it after web_events_end(), when the server has stopped. */
void web_events_destroy(struct web_events *events);

/* The endless answer to a viewer, to be queued at once; NULL if out of memory. */
struct MHD_Response *web_events_answer(
	struct web_events *events, struct MHD_Connection *connection);

/* Number of open streams. Any thread. */
unsigned web_events_viewers(struct web_events *events);

/* Sends a line of JSON to all viewers, with the next number. Takes ownership of 'line', from
 * malloc(). Any thread. */
void web_events_push(struct web_events *events, char *line);

/* Ends all streams, and from now on ends new ones at once. */
void web_events_end(struct web_events *events);

/* The files of the page, which tools/embed-files embeds in the program. */

struct web_page {
	const char *name; /* "page.js" */
	const unsigned char *text;
	size_t bytes;
};
