/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "telemetry_client.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "private_dir.h"

static int receive(int fd, char *text, size_t size, int timeout_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	ssize_t length;
	int events;

	do
		events = poll(&ready, 1, timeout_ms);
	while (events < 0 && errno == EINTR);
	if (events < 0)
		return -errno;
	if (events == 0)
		return -ETIMEDOUT;
	length = recv(fd, text, size - 1, MSG_TRUNC);
	if (length < 0)
		return -errno;
	if (length == 0)
		return -EPIPE;
	if ((size_t)length > size - 1)
		return -EMSGSIZE;
	text[length] = '\0';
	return (int)length;
}

/* A stopped program accepts no connections: once its queue is full, connect() waits until the
 * timeout. A timeout of 0 would mean no timeout. */
static int connect_to(const char *path, int timeout_ms)
{
	const struct timeval timeout = {
		timeout_ms / 1000, timeout_ms > 0 ? timeout_ms % 1000 * 1000 : 1};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, result;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) == 0 &&
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	result = errno == EAGAIN ? -ETIMEDOUT : -errno;
	close(fd);
	return result;
}

int telemetry_client_open(const char *prefix, int timeout_ms, struct error *error)
{
	char dir[RUNTIME_DIR_MAX], path[RUNTIME_DIR_MAX + 32], greeting[2048];
	int fd, result;

	runtime_dir_path(prefix, dir);
	/* Another user could answer from a folder of their own. */
	result = private_dir_check(dir, error);
	if (result < 0 && result != -ENOENT)
		return result;
	snprintf(path, sizeof(path), "%s" TELEMETRY_SOCKET, dir);
	fd = connect_to(path, timeout_ms);
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		return error_set(error, -fd, "%s: no program with this prefix is running (%s)",
			prefix, path);
	if (fd < 0)
		return error_set(error, -fd, "%s: %s: %s", prefix, path, strerror(-fd));
	/* DPDK sends its version and process id first, without a request. */
	result = receive(fd, greeting, sizeof(greeting), timeout_ms);
	if (result >= 0)
		return fd;
	close(fd);
	return error_set(
		error, -result, "%s: no greeting on %s: %s", prefix, path, strerror(-result));
}

int telemetry_client_call(
	int fd, const char *command, char *reply, size_t size, int timeout_ms, struct error *error)
{
	int result;

	if (send(fd, command, strlen(command), MSG_NOSIGNAL) < 0)
		return error_set(error, errno, "%s: %s", command, strerror(errno));
	result = receive(fd, reply, size, timeout_ms);
	if (result < 0)
		return error_set(error, -result, "%s: no answer: %s", command, strerror(-result));
	return result;
}

void telemetry_client_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
