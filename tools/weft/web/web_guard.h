/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Decides which requests the page's server obeys. Any page in a browser can send requests to this
 * machine, so a request must name this server as its Host (a foreign name that leads here does not)
 * and as its Origin, and one that changes the lab must have the token.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

#define WEB_TOKEN_DIGITS 32

/* The names of the server, in 'host' of struct web_guard. */
enum { WEB_HOST_V4, WEB_HOST_LOCAL, WEB_HOST_V6, WEB_HOSTS };

struct web_guard {
	char token[WEB_TOKEN_DIGITS + 1];
	char host[WEB_HOSTS][32]; /* "127.0.0.1:9465", … */
};

/* Makes the token from the kernel's random numbers. 0, or -errno and fault. */
int web_guard_make(struct web_guard *guard, uint16_t port, struct fault *fault);

/* The values of the headers; NULL: the request has none. */
bool web_guard_host_is_ours(const struct web_guard *guard, const char *host);
/* A request of this page may have none; one that another page caused and that changes something
 * has. */
bool web_guard_origin_is_ours(const struct web_guard *guard, const char *origin);
/* Takes the same time whichever digit is wrong. */
bool web_guard_token_is_right(const struct web_guard *guard, const char *token);
