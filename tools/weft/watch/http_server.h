/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The HTTP server of the metrics and of the page (libmicrohttpd), which runs in its own thread.
 * Both have the same rules:
 *
 * - Host and Origin must name this server, otherwise the answer is 403, because any page in a
 *   browser can send requests to this machine. Names are IP addresses, "localhost" and, if other
 *   machines can reach the server, the name of this machine. The port must be the server's.
 * - A request must be complete, and its answer read, HTTP_PATIENCE_MS after the connection or the
 *   previous answer. Streams have no such limit; a stream that is not read is closed as late.
 * - A peer has at most HTTP_PEER_CLIENTS connections; any more are closed immediately. A peer is a
 *   user if the other end is on this machine, otherwise an IPv4 address or an IPv6 /64.
 * - If HTTP_CLIENTS connections are open, a new one replaces the oldest connection of the peer with
 *   the most connections. No user or machine can therefore lock out the others. */

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

#define HTTP_CLIENTS      64
#define HTTP_PEER_CLIENTS 16
/* Browsers open connections before they send a request; on a busy machine, many seconds earlier. */
#define HTTP_PATIENCE_MS 30000

struct http_server;

/* Answers a request, in the server's thread. 'request' is memory that belongs to this request,
 * initially zero; the function is called again with it when a suspended connection is resumed. */
typedef enum MHD_Result http_request_fn(
	void *ctx, struct MHD_Connection *connection, const char *path, void *request);

struct http_calls {
	http_request_fn *get;  /* also for HEAD */
	http_request_fn *post; /* NULL: answered with 405 */
	size_t request_bytes;
	void *ctx; /* the caller's; outlives the server */
};

/* Listens on "127.0.0.1:9464", "[::1]:0", …, the value of 'option'; port 0: any. 'alone': accepts
 * only addresses that other machines cannot reach. Returns NULL with errno and error set: EINVAL
 * for any other text or address, otherwise the system's error. */
struct http_server *http_server_open(
	const char *option, const char *address, bool alone, struct error *error);
/* Starts to serve requests. The time is from the caller's clock. Returns 0, or -errno with error
 * set. */
int http_server_start(struct http_server *server, const struct http_calls *calls, uint64_t now_ms,
	struct error *error);
/* Closes connections that exceeded their time; call it about ten times per second. */
void http_server_check(struct http_server *server, uint64_t now_ms);
/* Accepts NULL. All suspended connections must have been resumed before. */
void http_server_stop(struct http_server *server);

/* Returns the address, such as "127.0.0.1:9464", with the actual port if the system chose it. */
const char *http_server_address(const struct http_server *server);
/* Returns true if no other machine can reach the server. */
bool http_server_is_local(const struct http_server *server);

/* Queue an answer. 'type' is its Content-Type; NULL: the response has it. The server then owns the
 * response, and the text of http_answer_own(), from malloc() (NULL: out of memory). */
enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned status, const char *type,
	struct MHD_Response *response);
enum MHD_Result http_answer_text(
	struct MHD_Connection *connection, unsigned status, const char *type, const char *text);
enum MHD_Result http_answer_own(struct MHD_Connection *connection, unsigned status,
	const char *type, char *text, size_t bytes);
enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status, const char *text);
/* Call before the answer of a stream. */
void http_endless(struct MHD_Connection *connection);
