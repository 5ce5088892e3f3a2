/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page's HTTP server (libmicrohttpd), in a thread of its own. It talks to no process of the
 * lab.
 *
 *   GET  /              the page and its files
 *   GET  /topology      the document of web_topology()
 *   GET  /series?number=0   of runs: the documents of web_run.h
 *   GET  /events        server-sent events: documents of web_sample()
 *   POST /cable?port=s0:1&state=down|up   with the header Weft-Token; {"port", "state"}
 *
 * Every answer to a foreign Host or Origin is 403, and so is a change without the token. A client
 * that neither sends nor reads for WEB_PATIENCE_S is closed. */

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "web_orders.h"

#define WEB_CLIENTS 32
/* Browsers open connections ahead of requests, and on a busy machine many seconds ahead. */
#define WEB_PATIENCE_S 30

struct web_server;

/* A document as text, from malloc(); NULL: there is none. ?number= and &from= of the request, 0 if
 * it has none. In the server's thread. */
typedef char *(*web_document_fn)(void *ctx, const char *path, uint64_t number, uint64_t from);

struct web_setup {
	const struct web_guard *guard;
	struct web_events *events;
	struct web_orders *orders; /* NULL: nothing can be changed */
	const char *topology;      /* text of the document; NULL: 'document' has it */
	web_document_fn document;  /* NULL: there are no others */
	void *ctx;
};

/* Serves the listening socket, which it closes in the end. 'setup' and its members are the caller's
 * and outlive the server. NULL and fault. */
struct web_server *web_server_start(int fd, const struct web_setup *setup, struct fault *fault);
/* After web_events_end() and web_orders_end(). */
void web_server_stop(struct web_server *server);

/* Server-sent events: every viewer gets the newest one. One that reads too slowly misses those in
 * between; one that does not read at all is closed by the server's timeout. An event is kept once,
 * for all viewers, so that slow ones cost no memory. */

struct web_events;

/* NULL without memory. */
struct web_events *web_events_create(void);
/* After web_events_end(), when the server has stopped. */
void web_events_destroy(struct web_events *events);

/* The endless answer to a viewer, to be queued at once; NULL without memory. */
struct MHD_Response *web_events_answer(
	struct web_events *events, struct MHD_Connection *connection);

/* Streams that are open. Any thread. */
unsigned web_events_viewers(struct web_events *events);

/* Sends a line of JSON to all viewers, with the next number. Takes ownership of 'line', from
 * malloc(). Any thread. */
void web_events_publish(struct web_events *events, char *line);

/* Ends all streams, and later ones at once. */
void web_events_end(struct web_events *events);

/* Decides which requests the page's server obeys. Any page in a browser can send requests to this
 * machine, so a request must name this server as its Host (a foreign name that leads here does not)
 * and as its Origin, and one that changes the lab must have the token. */

#define WEB_TOKEN_DIGITS 32

/* The names of the server, in 'host' of struct web_guard. */
enum { WEB_HOST_V4, WEB_HOST_LOCAL, WEB_HOST_V6, WEB_HOSTS };

struct web_guard {
	char token[WEB_TOKEN_DIGITS + 1];
	char host[WEB_HOSTS][32]; /* "127.0.0.1:9465", … */
};

/* Makes the token from the kernel's random numbers. 0, or -errno and fault. */
int web_guard_make(struct web_guard *guard, uint16_t port, struct fault *fault);

/* The values of the headers; NULL: the request has none. */
bool web_guard_host_is_ours(const struct web_guard *guard, const char *host);
/* A request of this page may have none; one that another page caused and that changes something
 * has. */
bool web_guard_origin_is_ours(const struct web_guard *guard, const char *origin);
/* Takes the same time whichever digit is wrong. */
bool web_guard_token_is_right(const struct web_guard *guard, const char *token);

/* The files of the page, which tools/embed-files puts into the program. */

struct web_page {
	const char *name; /* "page.js" */
	const unsigned char *text;
	size_t bytes;
};

/* "/" is the page itself. NULL: no such file. */
const struct web_page *web_page_find(const char *path);
