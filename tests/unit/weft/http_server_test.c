/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "watch/http_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "needs.h"

#define LARGE_BYTES (4 << 20)

static struct http_server *server;
static uint16_t port;

static enum MHD_Result get(
	void *ctx, struct MHD_Connection *connection, const char *path, void *request)
{
	(void)ctx, (void)request;
	if (strcmp(path, "/large") == 0)
		return http_answer_own(
			connection, MHD_HTTP_OK, "text/plain", calloc(1, LARGE_BYTES), LARGE_BYTES);
	return http_answer_text(connection, MHD_HTTP_OK, "text/plain", "here\n");
}

static void start(const char *address, bool alone)
{
	const struct http_calls calls = {.get = get};
	struct error error;

	server = http_server_open("--listen", address, alone, &error);
	assert_non_null(server);
	port = (uint16_t)atoi(strrchr(http_server_address(server), ':') + 1);
	assert_int_equal(http_server_start(server, &calls, 0, &error), 0);
}

static int start_local(void **state)
{
	start("127.0.0.1:0", true);
	return 0;
}

static int stop(void **state)
{
	http_server_stop(server);
	return 0;
}

static int connect_as(uid_t user)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd, bytes = 4096;

	assert_int_equal(seteuid(user), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(seteuid(getuid()), 0);
	assert_true(fd >= 0);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The status of an answer without a large body. */
static int read_status(int fd)
{
	char text[4096] = "";
	size_t bytes = 0;
	int status = 0;

	while (strstr(text, "\r\n\r\n") == NULL) {
		ssize_t more = recv(fd, text + bytes, sizeof(text) - 1 - bytes, 0);

		assert_true(more > 0);
		bytes += (size_t)more;
		text[bytes] = '\0';
	}
	assert_int_equal(sscanf(text, "HTTP/1.1 %d", &status), 1);
	return status;
}

static int ask(const char *host, const char *more)
{
	int fd = connect_as(getuid()), status;
	char text[1024];

	snprintf(text, sizeof(text), "GET / HTTP/1.1\r\nHost: %s\r\n%sConnection: close\r\n\r\n",
		host, more);
	say(fd, text);
	status = read_status(fd);
	close(fd);
	return status;
}

/* Also proves that the server has accepted all connections that were made before. */
static void assert_serves(void)
{
	assert_int_equal(ask("localhost:0", ""), 403);
}

static void assert_closed(int fd)
{
	char bytes[65536];
	size_t all = 0;
	ssize_t more;

	while ((more = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		all += (size_t)more;
	assert_true(all < LARGE_BYTES / 2);
	close(fd);
}

static void begin_requests(int *fd, unsigned count, uid_t user)
{
	for (unsigned i = 0; i < count; i++) {
		fd[i] = connect_as(user);
		(void)send(fd[i], "G", 1, MSG_NOSIGNAL);
	}
}

static void assert_answered(int fd)
{
	char text[64];

	snprintf(text, sizeof(text), "ET / HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", port);
	say(fd, text);
	assert_int_equal(read_status(fd), 200);
}

UNIT_WITH(a_user_with_many_slow_requests_keeps_no_other_user_out, start_local, stop)
{
	int fd[4 * HTTP_PEER_CLIENTS];

	need_root();
	begin_requests(fd, 4 * HTTP_PEER_CLIENTS, 65534);
	assert_serves();
	for (unsigned i = HTTP_PEER_CLIENTS; i < 4 * HTTP_PEER_CLIENTS; i++)
		assert_closed(fd[i]);
	for (unsigned i = 0; i < HTTP_PEER_CLIENTS; i++) {
		assert_answered(fd[i]);
		close(fd[i]);
	}
}

UNIT_WITH(many_users_with_slow_requests_keep_no_other_user_out, start_local, stop)
{
	enum { USERS = HTTP_CLIENTS / HTTP_PEER_CLIENTS };
	int fd[USERS][HTTP_PEER_CLIENTS];

	need_root();
	for (unsigned user = 0; user < USERS; user++)
		begin_requests(fd[user], HTTP_PEER_CLIENTS, 60000 + user);
	assert_serves();
	/* All connections were equal, so the oldest of the last user was closed. */
	assert_closed(fd[USERS - 1][0]);
	for (unsigned user = 0; user < USERS; user++)
		for (unsigned i = user == USERS - 1; i < HTTP_PEER_CLIENTS; i++) {
			assert_answered(fd[user][i]);
			close(fd[user][i]);
		}
}

UNIT_WITH(
	a_request_that_takes_too_long_is_closed_and_others_begin_their_time_anew, start_local, stop)
{
	int slow = connect_as(getuid()), good = connect_as(getuid());

	say(slow, "GET / HTTP/1.1\r\n");
	say(good, "G");
	assert_serves();
	http_server_check(server, HTTP_PATIENCE_MS);
	say(slow, "A");
	assert_answered(good);
	assert_serves(); /* so it knows that this answer has ended */
	http_server_check(server, HTTP_PATIENCE_MS + 1);
	assert_closed(slow);
	http_server_check(server, 2 * HTTP_PATIENCE_MS);
	say(good, "G");
	assert_answered(good);
	close(good);
}

UNIT_WITH(an_answer_that_is_read_too_slowly_is_cut_off, start_local, stop)
{
	int slow = connect_as(getuid());
	char text[80], byte;

	snprintf(text, sizeof(text), "GET /large HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", port);
	say(slow, text);
	assert_int_equal(recv(slow, &byte, 1, 0), 1);
	http_server_check(server, HTTP_PATIENCE_MS + 1);
	assert_closed(slow);
}

static void try_names(const char *name, int status)
{
	char host[256], origin[300];

	snprintf(host, sizeof(host), "%s:%u", name, port);
	assert_int_equal(ask(host, ""), status);
	snprintf(origin, sizeof(origin), "Origin: http://%s\r\n", host);
	snprintf(host, sizeof(host), "127.0.0.1:%u", port);
	assert_int_equal(ask(host, origin), status);
}

/* Names that any server may have, and a name under which other machines reach this one. */
static void try_all_names(int own_status)
{
	char own[80], full[100], longest[200];

	assert_int_equal(gethostname(own, sizeof(own)), 0);
	snprintf(full, sizeof(full), "%s.example", own);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	try_names("127.0.0.1", 200);
	try_names("LocalHost", 200);
	try_names("[::1]", 200);
	try_names("192.0.2.1", 200);
	try_names(own, own_status);
	try_names(full, own_status);
	try_names("evil.example", 403);
	try_names("127.0.0.1.example", 403);
	try_names("::1", 403);
	try_names("[evil]", 403);
	try_names(longest, 403);
	try_names("", 403);
	assert_int_equal(ask("127.0.0.1", ""), 403);
	assert_int_equal(ask("127.0.0.1:", ""), 403);
	assert_int_equal(ask("", ""), 403);
	assert_int_equal(ask("localhost", "Origin: null\r\n"), 403);
}

UNIT_WITH(a_local_server_is_asked_by_address_or_as_localhost, start_local, stop)
{
	try_all_names(403);
}

static int start_open(void **state)
{
	start("0.0.0.0:0", false);
	return 0;
}

UNIT_WITH(a_server_that_other_machines_reach_has_the_machine_s_name_too, start_open, stop)
{
	try_all_names(200);
}

UNIT_TEST(an_address_of_another_form_is_refused)
{
	static const char *const wrong[] = {"9464", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
		"127.0.0.1:-1", ":1", "[]:1", "[::1:1", "nowhere.invalid:1", "127.0.0.1:123456",
		""};
	struct error error;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_null(http_server_open("--web", wrong[i], false, &error));
		assert_int_equal(errno, EINVAL);
		assert_non_null(strstr(error.text, ": expected ADDRESS:PORT, such as "));
	}
	assert_null(http_server_open("--web", "0.0.0.0:0", true, &error));
	assert_string_equal(error.text,
		"--web 0.0.0.0:0: expected a loopback address and a port, such as 127.0.0.1:9464");
}
