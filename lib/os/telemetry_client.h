/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Queries a running program over DPDK's telemetry socket (v2: a UNIX socket with whole messages).
 * Does not need DPDK: used by 'weft lab'. Each call blocks for at most the given time. Any thread
 * may call; a connection has one user at a time. */

#include <stddef.h>

#include "base/weft_error.h"

#define TELEMETRY_REPLY_MAX (32 * 1024)

/* Socket name, in a program's DPDK folder. */
#define TELEMETRY_SOCKET "/dpdk_telemetry.v2"

/* Connects to the program with EAL file prefix 'prefix'. Returns the socket, or -errno with 'error'
 * set (-ENOENT, -ECONNREFUSED: no such program is running; -ETIMEDOUT). */
int telemetry_client_open(const char *prefix, int timeout_ms, struct error *error);

/* Sends a command such as "/weft/switch/stats,s0" and stores the JSON reply, 0-terminated, in
 * 'reply'. Returns its length, or -errno with 'error' set (-EPIPE: the program has exited;
 * -EMSGSIZE: the reply is too long). */
int telemetry_client_call(
	int fd, const char *command, char *reply, size_t size, int timeout_ms, struct error *error);

void telemetry_client_close(int fd);
