/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A small HTTP server in the caller's thread (libmicrohttpd): GET and HEAD of pages that the caller
 * makes. At most HTTP_CLIENTS connections; one whose client neither sends nor reads for
 * HTTP_PATIENCE_S is closed, so that nobody can hold the server up. */

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

#define HTTP_CLIENTS    32
#define HTTP_PATIENCE_S 5

struct http_request {
	const char *path;   /* "/metrics" */
	const char *accept; /* the header; "" without one */
};

struct http_page {
	unsigned status;  /* 200, 404, … */
	const char *type; /* of the content; lives until the server has stopped */
	char *text;       /* from malloc(); the server frees it */
	size_t bytes;
};

/* Makes the page for a request. */
typedef void http_page_fn(void *ctx, const struct http_request *request, struct http_page *page);

struct http_server;

/* Listens on "127.0.0.1:9464", "[::1]:0", …; port 0: any. NULL, errno and fault: EINVAL if that is
 * no address; else the system's reason. 'ctx' is the caller's and outlives the server. */
struct http_server *http_server_start(
	const char *address, http_page_fn *page, void *ctx, struct fault *fault);
void http_server_stop(struct http_server *server);

/* Serves what there is; waits for up to 'ms' if there is nothing. False: it cannot go on. */
bool http_server_run(struct http_server *server, int ms);

/* "127.0.0.1:9464", with the port that was chosen. */
const char *http_server_address(const struct http_server *server);
/* Only programs of this machine reach it. */
bool http_server_is_local(const struct http_server *server);
