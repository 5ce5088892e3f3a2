/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "http_server.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* Size of the kernel's send buffer for each client, in case the client does not read. */
#define SEND_BYTES 16384
#define HOST_MAX   256

struct client {
	struct client *next; /* client that connected before this one */
	struct http_server *server;
	int fd;
	struct in6_addr peer; /* an address, or ffff:ffff:: and the user's id */
	uint64_t due_ms;      /* time by which the client must have acted; UINT64_MAX: none */
	bool closing;
};

struct http_server {
	struct http_calls calls;
	struct MHD_Daemon *daemon;
	int fd;
	char address[80], port[8];
	bool local;
	pthread_mutex_t lock; /* guards what follows */
	uint64_t now_ms;
	struct client *newest;
};

/* --- address --- */

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 ==
		       IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Parses "[::1]:80" or "127.0.0.1:80". Returns the port, or NULL if the text has a different form.
 * 'host' has no brackets. */
static const char *split(const char *text, char host[HOST_MAX])
{
	const char *colon = strrchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : 0;

	if (length > 2 && text[0] == '[' && text[length - 1] == ']')
		text++, length -= 2;
	if (length == 0 || length >= HOST_MAX)
		return NULL;
	snprintf(host, HOST_MAX, "%.*s", (int)length, text);
	return colon + 1;
}

static struct addrinfo *resolve(const char *text)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char host[HOST_MAX];
	const char *port = split(text, host);

	if (port == NULL || port[strspn(port, "0123456789")] != '\0' || port[0] == '\0' ||
		strlen(port) > 5 || atoi(port) > UINT16_MAX)
		return NULL;
	if (strcmp(host, "localhost") == 0)
		hints.ai_family = AF_INET;
	return getaddrinfo(host, port, &hints, &found) == 0 ? found : NULL;
}

static void note_address(struct http_server *server)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char host[64];

	if (getsockname(server->fd, (struct sockaddr *)&address, &length) < 0 ||
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), server->port,
			sizeof(server->port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	server->local = is_loopback((struct sockaddr *)&address);
	snprintf(server->address, sizeof(server->address),
		address.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, server->port);
}

/* Returns 0 or -errno. */
static int listen_on(struct http_server *server, const struct addrinfo *address)
{
	int on = 1;

	server->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd >= 0 &&
		setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(server->fd, address->ai_addr, address->ai_addrlen) == 0 &&
		listen(server->fd, SOMAXCONN) == 0) {
		note_address(server);
		return 0;
	}
	on = errno;
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
	return -on;
}

struct http_server *http_server_open(
	const char *option, const char *address, bool alone, struct error *error)
{
	struct http_server *server = calloc(1, sizeof(*server));
	struct addrinfo *found = resolve(address);
	int result = -EINVAL;

	if (server == NULL)
		result = error_set(error, ENOMEM, "out of memory");
	else if (found == NULL || (alone && !is_loopback(found->ai_addr)))
		error_set(error, EINVAL, "%s %s: expected %s, such as 127.0.0.1:9464", option,
			address, alone ? "a loopback address and a port" : "ADDRESS:PORT");
	else {
		*server = (struct http_server){.fd = -1};
		pthread_mutex_init(&server->lock, NULL);
		result = listen_on(server, found);
		if (result < 0)
			error_set(error, -result, "%s %s: %s", option, address, strerror(-result));
	}
	if (found != NULL)
		freeaddrinfo(found);
	if (result == 0)
		return server;
	free(server);
	errno = -result;
	return NULL;
}

const char *http_server_address(const struct http_server *server)
{
	return server->address;
}

bool http_server_is_local(const struct http_server *server)
{
	return server->local;
}

/* --- clients --- */

/* Finds the user of the other end, if that is on this machine. Once a program has closed its
 * end, that end has neither an inode nor a user. */
static bool find_user(const char *file, const char *address, unsigned peer_port,
	const struct http_server *server, unsigned *user)
{
	FILE *sockets = fopen(file, "re");
	char line[512], text[33];
	unsigned own, to;
	unsigned long inode;
	bool found = false;

	while (sockets != NULL && !found && fgets(line, sizeof(line), sockets) != NULL)
		found = sscanf(line,
				"%*d: %32[0-9A-F]:%x %*32[0-9A-F]:%x %*x %*s %*s %*x %u %*u %lu",
				text, &own, &to, user, &inode) == 5 &&
			own == peer_port && to == (unsigned)atoi(server->port) && inode > 0 &&
			strcmp(text, address) == 0;
	if (sockets != NULL)
		fclose(sockets);
	return found;
}

static struct in6_addr peer_of(const struct http_server *server, const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
	struct in6_addr peer = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
	unsigned port = ntohs(v4->sin_port), user;
	char text[33];

	if (address->sa_family == AF_INET)
		peer.s6_addr32[3] = v4->sin_addr.s_addr;
	else
		peer = v6->sin6_addr;
	snprintf(text, sizeof(text), "%08X%08X%08X%08X", peer.s6_addr32[0], peer.s6_addr32[1],
		peer.s6_addr32[2], peer.s6_addr32[3]);
	if ((IN6_IS_ADDR_V4MAPPED(&peer) &&
		    find_user("/proc/net/tcp", text + 24, port, server, &user)) ||
		find_user("/proc/net/tcp6", text, port, server, &user))
		return (struct in6_addr){.s6_addr32 = {UINT32_MAX, 0, 0, user}};
	if (!IN6_IS_ADDR_V4MAPPED(&peer))
		peer.s6_addr32[2] = peer.s6_addr32[3] = 0;
	return peer;
}

/* libmicrohttpd then detects the end of the connection. */
static void close_client(struct client *client)
{
	client->closing = true;
	shutdown(client->fd, SHUT_RDWR);
}

/* Counts the connections of the peer, or all connections; sets 'oldest' to the first. */
static unsigned count(
	const struct http_server *server, const struct in6_addr *peer, struct client **oldest)
{
	unsigned number = 0;

	for (struct client *client = server->newest; client != NULL; client = client->next)
		if (!client->closing &&
			(peer == NULL || memcmp(&client->peer, peer, sizeof(*peer)) == 0)) {
			number++;
			*oldest = client;
		}
	return number;
}

static void close_superfluous(struct http_server *server)
{
	struct client *victim = NULL, *oldest = NULL;
	unsigned max = 0;

	if (count(server, &server->newest->peer, &oldest) > HTTP_PEER_CLIENTS) {
		close_client(server->newest);
		return;
	}
	if (count(server, NULL, &oldest) <= HTTP_CLIENTS)
		return;
	for (struct client *client = server->newest; client != NULL; client = client->next) {
		unsigned number = count(server, &client->peer, &oldest);

		if (number > max) {
			max = number;
			victim = oldest;
		}
	}
	close_client(victim);
}

static void begin_client(struct http_server *server, struct MHD_Connection *connection, void **of)
{
	const struct sockaddr *address =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			->client_addr;
	int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct client *client = malloc(sizeof(*client));
	int bytes = SEND_BYTES;

	*of = client;
	if (client == NULL) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	*client = (struct client){.next = server->newest,
		.server = server,
		.fd = fd,
		.peer = peer_of(server, address),
		.due_ms = server->now_ms + HTTP_PATIENCE_MS};
	server->newest = client;
	close_superfluous(server);
}

/* Called before libmicrohttpd closes the socket. */
static void end_client(struct http_server *server, struct client *client)
{
	struct client **at = &server->newest;

	while (*at != NULL && *at != client)
		at = &(*at)->next;
	if (*at != NULL)
		*at = client->next;
	free(client);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **client,
	enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = ctx;

	pthread_mutex_lock(&server->lock);
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		begin_client(server, connection, client);
	else
		end_client(server, *client);
	pthread_mutex_unlock(&server->lock);
}

static void set_due(struct MHD_Connection *connection, bool ever)
{
	struct client *client =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;

	if (client == NULL)
		return;
	pthread_mutex_lock(&client->server->lock);
	client->due_ms = ever ? client->server->now_ms + HTTP_PATIENCE_MS : UINT64_MAX;
	pthread_mutex_unlock(&client->server->lock);
}

void http_endless(struct MHD_Connection *connection)
{
	set_due(connection, false);
}

void http_server_check(struct http_server *server, uint64_t now_ms)
{
	pthread_mutex_lock(&server->lock);
	server->now_ms = now_ms;
	for (struct client *client = server->newest; client != NULL; client = client->next)
		if (!client->closing && client->due_ms < now_ms)
			close_client(client);
	pthread_mutex_unlock(&server->lock);
}

/* --- answers --- */

enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned status, const char *type,
	struct MHD_Response *response)
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
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	for (unsigned i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (type != NULL)
		MHD_add_response_header(response, "Content-Type", type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result http_answer_text(
	struct MHD_Connection *connection, unsigned status, const char *type, const char *text)
{
	/* MHD_RESPMEM_MUST_COPY does not write to it. */
	return http_answer(connection, status, type,
		MHD_create_response_from_buffer(
			strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY));
}

enum MHD_Result http_answer_own(struct MHD_Connection *connection, unsigned status,
	const char *type, char *text, size_t bytes)
{
	struct MHD_Response *response =
		text != NULL ? MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE)
			     : NULL;

	if (response == NULL)
		free(text);
	return http_answer(connection, status, type, response);
}

enum MHD_Result http_refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
	return http_answer_text(connection, status, "text/plain; charset=utf-8", text);
}

/* --- requests --- */

/* An IP address cannot be redirected to another machine; the host name of a foreign page can. */
static bool host_is_ours(const struct http_server *server, const char *host)
{
	char full[HOST_MAX], name[HOST_MAX], own[HOST_MAX];
	const char *port;
	struct in6_addr address;

	if (host == NULL || strlen(host) >= sizeof(full) - 3)
		return false;
	/* Browsers omit port 80. */
	snprintf(full, sizeof(full), "%s%s", host,
		strchr(host, ':') == NULL || host[strlen(host) - 1] == ']' ? ":80" : "");
	port = split(full, name);
	if (port == NULL || strcmp(port, server->port) != 0)
		return false;
	if (strcasecmp(name, "localhost") == 0 || inet_pton(AF_INET, name, &address) == 1 ||
		(host[0] == '[' && inet_pton(AF_INET6, name, &address) == 1))
		return true;
	if (server->local || gethostname(own, sizeof(own)) < 0)
		return false;
	own[strcspn(own, ".")] = '\0';
	name[strcspn(name, ".")] = '\0';
	return strcasecmp(name, own) == 0;
}

static bool origin_is_ours(const struct http_server *server, const char *origin)
{
	static const char scheme[] = "http://";

	return origin == NULL || (strncmp(origin, scheme, strlen(scheme)) == 0 &&
					 host_is_ours(server, origin + strlen(scheme)));
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Called by libmicrohttpd for the headers, for each part of a body, at the end, and again after a
 * suspended connection is resumed. */
static enum MHD_Result handle(void *ctx, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version, const char *body, size_t *body_bytes,
	void **request)
{
	const struct http_server *server = ctx;
	const struct http_calls *calls = &server->calls;

	(void)version, (void)body;
	if (*request == NULL) {
		*request = calloc(1, calls->request_bytes + 1);
		return *request != NULL ? MHD_YES : MHD_NO;
	}
	/* A body is ignored. */
	if (*body_bytes > 0) {
		*body_bytes = 0;
		return MHD_YES;
	}
	if (!host_is_ours(server, header_of(connection, "Host")))
		return http_refuse(connection, MHD_HTTP_FORBIDDEN,
			"The Host header does not name this server.\n");
	if (!origin_is_ours(server, header_of(connection, "Origin")))
		return http_refuse(connection, MHD_HTTP_FORBIDDEN,
			"The request comes from a different site.\n");
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return calls->get(calls->ctx, connection, path, *request);
	if (calls->post != NULL && strcmp(method, "POST") == 0)
		return calls->post(calls->ctx, connection, path, *request);
	return http_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
		calls->post != NULL ? "Expected GET or POST.\n" : "Expected GET.\n");
}

static void complete(void *ctx, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code)
{
	(void)ctx, (void)code;
	set_due(connection, true);
	free(*request);
	*request = NULL;
}

/* --- the server --- */

int http_server_start(struct http_server *server, const struct http_calls *calls, uint64_t now_ms,
	struct error *error)
{
	server->calls = *calls;
	server->now_ms = now_ms;
	/* Connections beyond HTTP_CLIENTS are closed as soon as they are accepted, so that they do
	 * not wait. */
	server->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, server->fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)(4 * HTTP_CLIENTS),
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_PATIENCE_MS / 1000,
		MHD_OPTION_NOTIFY_COMPLETED, complete, NULL, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_END);
	return server->daemon != NULL ? 0 : error_set(error, EIO, "cannot start libmicrohttpd");
}

void http_server_stop(struct http_server *server)
{
	if (server == NULL)
		return;
	/* The daemon closes its socket. */
	if (server->daemon != NULL)
		MHD_stop_daemon(server->daemon);
	else
		close(server->fd);
	pthread_mutex_destroy(&server->lock);
	free(server);
}
