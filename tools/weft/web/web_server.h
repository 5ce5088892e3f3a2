/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The page's HTTP server (libmicrohttpd), in a thread of its own. It talks to no process of the
 * lab.
 *
 *   GET  /              the page and its files
 *   GET  /topology      the document of web_topology()
 *   GET  /series?number=0   of runs: the documents of web_run.h
 *   GET  /events        server-sent events: documents of web_sample()
 *   POST /cable?port=s0:1&state=down|up   with the header Weft-Token; {"port", "state"}
 *
 * Every answer to a foreign Host or Origin is 403, and so is a change without the token. A client
 * that neither sends nor reads for WEB_PATIENCE_S is closed.
 */

#include "fault.h"
#include "web_events.h"
#include "web_guard.h"
#include "web_orders.h"

#define WEB_CLIENTS    32
#define WEB_PATIENCE_S 3

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
