/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The value of --listen: where a command serves HTTP. */

#include <stdbool.h>
#include <stddef.h>

/* Splits "127.0.0.1:80" or "[::1]:80"; the brackets are left out of 'host', 'port' begins with a
 * digit and points into the text. False for another form, or if 'host' is too small. */
bool listen_address_split(const char *text, char *host, size_t size, const char **port);
