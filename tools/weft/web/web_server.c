/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_server.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "commands.h"
#include "web_files.h"

/* The kernel's share of a viewer that does not read. */
#define SEND_BYTES 16384

/* Its Content-Type. */
static const char *web_page_type(const struct web_page *page)
{
	static const char *const types[][2] = {{".html", "text/html; charset=utf-8"},
		{".css", "text/css; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
		{".svg", "image/svg+xml"}};
	const char *ending = strrchr(page->name, '.');

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]) && ending != NULL; i++)
		if (strcmp(ending, types[i][0]) == 0)
			return types[i][1];
	return "application/octet-stream";
}

#define PAGE(name, bytes) {name, bytes, sizeof(bytes)},

const struct web_page *web_page_find(const char *path)
{
	static const struct web_page pages[] = {WEB_FILES(PAGE)};
	const char *name = strcmp(path, "/") == 0 ? "page.html" : path + 1;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (strcmp(pages[i].name, name) == 0)
			return &pages[i];
	return NULL;
}

struct web_server {
	struct web_setup setup;
	struct MHD_Daemon *daemon;
};

/* A request in its second and later calls. */
struct request {
	bool ordered;
	struct web_order order;
};

/* --- answers --- */

static void add_headers(struct MHD_Response *response)
{
	static const char *const headers[][2] = {
		{"Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; connect-src "
			"'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
			"frame-ancestors 'none'"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cache-Control", "no-store"},
	};

	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result answer(
	struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	add_headers(response);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(
	struct MHD_Connection *connection, unsigned status, const char *type, const char *text)
{
	/* MHD_RESPMEM_MUST_COPY does not write to it. */
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);

	if (response != NULL)
		MHD_add_response_header(response, "Content-Type", type);
	return answer(connection, status, response);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return answer_text(connection, status, "text/plain; charset=utf-8", text);
}

static enum MHD_Result answer_page(struct MHD_Connection *connection, const struct web_page *page)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		page->bytes, (void *)(uintptr_t)page->text, MHD_RESPMEM_PERSISTENT);

	if (response != NULL)
		MHD_add_response_header(response, "Content-Type", web_page_type(page));
	return answer(connection, MHD_HTTP_OK, response);
}

/* --- requests --- */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* The text is the server's. */
static enum MHD_Result answer_document(struct MHD_Connection *connection, char *text)
{
	struct MHD_Response *response;

	if (text == NULL)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page here.\n");
	response = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (response == NULL)
		free(text);
	else
		MHD_add_response_header(response, "Content-Type", "application/json");
	return answer(connection, MHD_HTTP_OK, response);
}

static bool take_number(struct MHD_Connection *connection, const char *name, uint64_t *number)
{
	const char *text = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);

	*number = 0;
	return text == NULL || command_number(text, 0, UINT32_MAX, number);
}

static enum MHD_Result get_document(
	const struct web_server *server, struct MHD_Connection *connection, const char *path)
{
	const struct web_setup *setup = &server->setup;
	uint64_t number, from;

	if (setup->document == NULL || !take_number(connection, "number", &number) ||
		!take_number(connection, "from", &from))
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page here.\n");
	return answer_document(connection, setup->document(setup->ctx, path, number, from));
}

static enum MHD_Result get(
	const struct web_server *server, struct MHD_Connection *connection, const char *path)
{
	const struct web_page *page = web_page_find(path);

	if (strcmp(path, "/topology") == 0 && server->setup.topology != NULL)
		return answer_text(
			connection, MHD_HTTP_OK, "application/json", server->setup.topology);
	if (strcmp(path, "/events") == 0)
		return answer(connection, MHD_HTTP_OK,
			web_events_answer(server->setup.events, connection));
	if (page != NULL)
		return answer_page(connection, page);
	return get_document(server, connection, path);
}

/* The order has been carried out. */
static enum MHD_Result answer_order(
	struct MHD_Connection *connection, const struct web_order *order)
{
	enum MHD_Result result;
	json_t *document;
	char *text;

	if (order->result == -EINVAL)
		return refuse(connection, MHD_HTTP_BAD_REQUEST, order->fault.text);
	if (order->result < 0)
		return refuse(connection, MHD_HTTP_SERVICE_UNAVAILABLE, order->fault.text);
	document = json_pack("{s:s,s:s}", "port", order->port, "state", order->cut ? "cut" : "up");
	text = json_dumps(document, JSON_COMPACT);
	json_decref(document);
	if (text == NULL)
		return MHD_NO;
	result = answer_text(connection, MHD_HTTP_OK, "application/json", text);
	free(text);
	return result;
}

static enum MHD_Result post(const struct web_server *server, struct MHD_Connection *connection,
	const char *path, struct request *request)
{
	struct web_order *order = &request->order;
	const char *port = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "port");
	const char *state = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "state");

	if (strcmp(path, "/cable") != 0 || server->setup.orders == NULL)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "There is no such page here.\n");
	if (!web_guard_token_is_right(server->setup.guard, header_of(connection, "Weft-Token")))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			"A change needs the token that 'weft lab web' has printed.\n");
	if (port == NULL || strlen(port) >= sizeof(order->port) || state == NULL ||
		(strcmp(state, "down") != 0 && strcmp(state, "up") != 0))
		return refuse(connection, MHD_HTTP_BAD_REQUEST,
			"Expected /cable?port=PORT&state=down or state=up.\n");
	snprintf(order->port, sizeof(order->port), "%s", port);
	order->cut = strcmp(state, "down") == 0;
	order->connection = connection;
	request->ordered = true;
	/* An accepted one may be done already, and answered when this is called again. */
	return web_orders_add(server->setup.orders, order) ? MHD_YES
							   : answer_order(connection, order);
}

/* libmicrohttpd calls it for the headers, for each part of a body, at the end, and again after a
 * suspension. */
static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *body, size_t *body_bytes,
	void **request_of)
{
	const struct web_server *server = ctx;
	struct request *request = *request_of;

	(void)version, (void)body;
	if (request == NULL) {
		*request_of = calloc(1, sizeof(*request));
		return *request_of != NULL ? MHD_YES : MHD_NO;
	}
	/* No request has a body that says anything. */
	if (*body_bytes > 0) {
		*body_bytes = 0;
		return MHD_YES;
	}
	if (request->ordered)
		return answer_order(connection, &request->order);
	if (!web_guard_host_is_ours(server->setup.guard, header_of(connection, "Host")))
		return refuse(connection, MHD_HTTP_FORBIDDEN, "This server has another name.\n");
	if (!web_guard_origin_is_ours(server->setup.guard, header_of(connection, "Origin")))
		return refuse(connection, MHD_HTTP_FORBIDDEN, "Another page has asked for this.\n");
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return get(server, connection, path);
	if (strcmp(method, "POST") == 0)
		return post(server, connection, path, request);
	return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Expected GET or POST.\n");
}

static void complete(void *ctx, struct MHD_Connection *connection, void **request_of,
	enum MHD_RequestTerminationCode code)
{
	(void)ctx, (void)connection, (void)code;
	free(*request_of);
	*request_of = NULL;
}

static void begin_connection(void *ctx, struct MHD_Connection *connection, void **socket_ctx,
	enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int bytes = SEND_BYTES;

	(void)ctx, (void)socket_ctx;
	if (code == MHD_CONNECTION_NOTIFY_STARTED && info != NULL)
		(void)setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

struct web_server *web_server_start(int fd, const struct web_setup *setup, struct fault *fault)
{
	struct web_server *server = calloc(1, sizeof(*server));

	if (server != NULL) {
		server->setup = *setup;
		server->daemon = MHD_start_daemon(
			MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
			handle, server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)WEB_CLIENTS, MHD_OPTION_CONNECTION_TIMEOUT,
			(unsigned)WEB_PATIENCE_S, MHD_OPTION_NOTIFY_COMPLETED, complete, NULL,
			MHD_OPTION_NOTIFY_CONNECTION, begin_connection, NULL, MHD_OPTION_END);
	}
	if (server != NULL && server->daemon != NULL)
		return server;
	free(server);
	close(fd);
	fault_set(fault, ENOMEM, "cannot start the server");
	return NULL;
}

void web_server_stop(struct web_server *server)
{
	if (server == NULL)
		return;
	MHD_stop_daemon(server->daemon);
	free(server);
}
