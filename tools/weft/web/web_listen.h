/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The socket of the page's server. */

#include <stdint.h>

#include "fault.h"

/* Listens on "127.0.0.1:9465", "[::1]:9465" or "localhost:9465", which is the value of an option;
 * port 0: any. 'port' is the one that was taken. A socket, or -errno and fault: -EINVAL if that is
 * no loopback address with a port; else the system's reason. */
int web_listen(const char *option, const char *address, uint16_t *port, struct fault *fault);
