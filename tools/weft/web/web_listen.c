/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_web.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "listen_address.h"

#define BACKLOG 16

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* The port's number is in range. */
static bool split(const char *text, char host[32], uint16_t *port)
{
	char *end = NULL;
	const char *digits;
	unsigned long number;

	if (!listen_address_split(text, host, 32, &digits))
		return false;
	number = strtoul(digits, &end, 10);
	*port = (uint16_t)number;
	return *end == '\0' && number <= UINT16_MAX;
}

/* The length of the address; 0: it is none of this machine alone. */
static socklen_t read_address(const char *text, union address *address)
{
	char host[32];
	uint16_t port;

	memset(address, 0, sizeof(*address));
	if (!split(text, host, &port))
		return 0;
	if (inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1) {
		address->v6.sin6_family = AF_INET6;
		address->v6.sin6_port = htons(port);
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr) ? sizeof(address->v6) : 0;
	}
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
		    &address->v4.sin_addr) != 1)
		return 0;
	address->v4.sin_family = AF_INET;
	address->v4.sin_port = htons(port);
	/* The Host header is compared with this one. */
	return address->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK) ? sizeof(address->v4) : 0;
}

int web_listen(const char *option, const char *text, uint16_t *port, struct fault *fault)
{
	union address address;
	socklen_t length = read_address(text, &address);
	int fd, on = 1, code;

	if (length == 0)
		return fault_set(fault, EINVAL,
			"%s %s: expected an address of this machine alone and a port, such as "
			"127.0.0.1:9465",
			option, text);
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		bind(fd, &address.any, length) == 0 && listen(fd, BACKLOG) == 0 &&
		getsockname(fd, &address.any, &length) == 0) {
		*port = ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port
								: address.v4.sin_port);
		return fd;
	}
	code = errno;
	if (fd >= 0)
		close(fd);
	return fault_set(fault, code, "%s %s: %s", option, text, strerror(code));
}
