/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "http_server.h"

#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen_address.h"

struct http_server {
	struct MHD_Daemon *daemon;
	http_page_fn *page;
	void *ctx;
	int fd;
	char address[80];
	bool local;
};

/* --- address --- */

static struct addrinfo *resolve(const char *text, struct fault *fault)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	const char *port;
	char host[64];

	if (!listen_address_split(text, host, sizeof(host), &port) ||
		getaddrinfo(host, port, &hints, &found) != 0) {
		fault_set(fault, EINVAL,
			"--listen %s: expected ADDRESS:PORT such as 127.0.0.1:9464", text);
		return NULL;
	}
	return found;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

static void note_address(struct http_server *server)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char host[64], port[8];

	if (getsockname(server->fd, (struct sockaddr *)&address, &length) < 0 ||
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port,
			sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	server->local = is_loopback((struct sockaddr *)&address);
	snprintf(server->address, sizeof(server->address),
		address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

static int listen_on(struct http_server *server, const char *text, struct fault *fault)
{
	struct addrinfo *found = resolve(text, fault);
	int on = 1;

	if (found == NULL)
		return -EINVAL;
	server->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server->fd >= 0)
		setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (server->fd < 0 || bind(server->fd, found->ai_addr, found->ai_addrlen) < 0 ||
		listen(server->fd, HTTP_CLIENTS) < 0) {
		int result = fault_set(fault, errno, "--listen %s: %s", text, strerror(errno));

		freeaddrinfo(found);
		return result;
	}
	freeaddrinfo(found);
	note_address(server);
	return 0;
}

/* --- requests --- */

static enum MHD_Result answer(struct MHD_Connection *connection, struct http_page *page)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(page->bytes, page->text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (response == NULL) {
		free(page->text);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->type);
	result = MHD_queue_response(connection, page->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *upload, size_t *upload_bytes,
	void **seen)
{
	struct http_server *server = ctx;
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const struct http_request request = {path, accept != NULL ? accept : ""};
	struct http_page page = {.status = MHD_HTTP_NOT_FOUND, .type = "text/plain"};

	(void)version;
	(void)upload;
	/* The first call has the head only. A body is ignored. */
	if (*seen == NULL) {
		*seen = server;
		return MHD_YES;
	}
	if (*upload_bytes > 0) {
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		server->page(server->ctx, &request, &page);
	else
		page.status = MHD_HTTP_METHOD_NOT_ALLOWED;
	return answer(connection, &page);
}

/* --- the server --- */

struct http_server *http_server_start(
	const char *address, http_page_fn *page, void *ctx, struct fault *fault)
{
	struct http_server *server = calloc(1, sizeof(*server));
	int result;

	if (server == NULL) {
		fault_set(fault, ENOMEM, "no memory");
		errno = ENOMEM;
		return NULL;
	}
	*server = (struct http_server){.page = page, .ctx = ctx, .fd = -1};
	result = listen_on(server, address, fault);
	if (result < 0) {
		http_server_stop(server);
		errno = -result;
		return NULL;
	}
	server->daemon = MHD_start_daemon(MHD_NO_FLAG, 0, NULL, NULL, on_request, server,
		MHD_OPTION_LISTEN_SOCKET, server->fd, MHD_OPTION_CONNECTION_LIMIT, HTTP_CLIENTS,
		MHD_OPTION_CONNECTION_TIMEOUT, HTTP_PATIENCE_S, MHD_OPTION_END);
	if (server->daemon == NULL) {
		fault_set(fault, EIO, "--listen %s: libmicrohttpd does not start", address);
		http_server_stop(server);
		errno = EIO;
		return NULL;
	}
	return server;
}

void http_server_stop(struct http_server *server)
{
	if (server == NULL)
		return;
	/* The daemon closes its socket. */
	if (server->daemon != NULL)
		MHD_stop_daemon(server->daemon);
	else if (server->fd >= 0)
		close(server->fd);
	free(server);
}

bool http_server_run(struct http_server *server, int ms)
{
	return MHD_run_wait(server->daemon, ms) == MHD_YES;
}

const char *http_server_address(const struct http_server *server)
{
	return server->address;
}

bool http_server_is_local(const struct http_server *server)
{
	return server->local;
}
