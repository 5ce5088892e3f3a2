/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_client_socket.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Marks all descriptors as unused, because 0 would be valid. */
static void clear(struct weft_socket *to)
{
	*to = (struct weft_socket){.connection = -1, .memory = -1, .door = -1, .bell = -1};
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Stores the descriptors received with the answer, or leaves them unused if there are none. */
static void take_descriptors(struct weft_socket *to, struct msghdr *message)
{
	const struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int fd[ENDPOINT_DESCRIPTORS] = {-1, -1, -1};

	if (control == NULL || control->cmsg_type != SCM_RIGHTS ||
		control->cmsg_len != CMSG_LEN(sizeof(fd)))
		return;
	memcpy(fd, CMSG_DATA(control), sizeof(fd));
	to->memory = fd[0];
	to->door = fd[1];
	to->bell = fd[2];
}

int weft_socket_ask(struct weft_socket *to, enum endpoint_request_kind kind, const char *host,
	uint16_t number, struct endpoint_answer *answer)
{
	struct endpoint_request ask = {
		.version = ENDPOINT_VERSION, .kind = (uint16_t)kind, .number = number};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(ENDPOINT_DESCRIPTORS * sizeof(int))];
	} control;
	struct iovec data = {answer, sizeof(*answer)};
	struct msghdr message = {.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	if (strlen(host) >= sizeof(ask.host))
		return -ENOENT;
	strcpy(ask.host, host);
	if (send(to->connection, &ask, sizeof(ask), MSG_NOSIGNAL) != (ssize_t)sizeof(ask))
		return -ENETDOWN;
	do
		got = recvmsg(to->connection, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(*answer))
		return -ENETDOWN;
	if (kind == ENDPOINT_ATTACH)
		take_descriptors(to, &message);
	return answer->error;
}

static int attach(struct weft_socket *to, const char *path, const char *host, uint16_t endpoint)
{
	struct endpoint_answer answer;
	struct stat file;
	int result = connect_to(path);

	if (result < 0)
		return result;
	to->connection = result;
	result = weft_socket_ask(to, ENDPOINT_ATTACH, host, endpoint, &answer);
	if (result == 0 && (to->memory < 0 || fstat(to->memory, &file) < 0))
		result = -EPROTO;
	if (result == 0)
		to->bytes = (size_t)file.st_size;
	else
		weft_socket_close(to);
	return result;
}

int weft_socket_open(struct weft_socket *to, const char *host, uint16_t endpoint)
{
	const char *lab = getenv("WEFT_LAB");
	char pattern[PATH_MAX];
	int result = -ENOENT;
	glob_t found;

	clear(to);
	host = host != NULL ? host : getenv("WEFT_HOST");
	if (lab == NULL || lab[0] == '\0' || host == NULL || host[0] == '\0')
		return -EDESTADDRREQ;
	snprintf(pattern, sizeof(pattern), "%s/" ENDPOINT_SOCKET "*", lab);
	if (glob(pattern, 0, NULL, &found) != 0)
		return -ENOENT;
	/* Try each lab process until one runs this host. */
	for (size_t i = 0; i < found.gl_pathc && result == -ENOENT; i++)
		result = attach(to, found.gl_pathv[i], host, endpoint);
	globfree(&found);
	return result;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void weft_socket_close(struct weft_socket *to)
{
	close_one(&to->connection);
	close_one(&to->memory);
	close_one(&to->door);
	close_one(&to->bell);
}

bool weft_socket_is_dead(const struct weft_socket *to)
{
	char byte;
	ssize_t got = recv(to->connection, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}
