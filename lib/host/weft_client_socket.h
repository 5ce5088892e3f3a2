/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Finds the lab process that runs a program's host, and receives the shared memory from it. */

#include <stdbool.h>
#include <stddef.h>

#include "endpoint_memory.h"

struct weft_socket {
	int connection; /* the program is attached while this is open */
	int memory, door, bell;
	size_t bytes; /* size of the memory */
};

/* 'host' NULL: the host in $WEFT_HOST. Returns 0 or a negative errno, as weft_open() does. */
int weft_socket_open(struct weft_socket *to, const char *host, uint16_t endpoint);
void weft_socket_close(struct weft_socket *to);
/* Returns true if the lab process has ended. */
bool weft_socket_is_dead(const struct weft_socket *to);
/* Sends a request. Returns 0 or -errno, which may be the error in the answer. */
int weft_socket_ask(struct weft_socket *to, enum endpoint_request_kind kind, const char *host,
	uint16_t number, struct endpoint_answer *answer);
