/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Questions to the processes of a lab over their telemetry sockets, answers as JSON. */

#include <jansson.h>

#include "fault.h"

struct lab_connection {
	const char *prefix;
	int fd;
};

/* 0, or -errno and fault: -ENOENT, -ECONNREFUSED if it does not run (yet). */
int lab_connect(struct lab_connection *connection, const char *prefix, struct fault *fault);
void lab_disconnect(struct lab_connection *connection);

/* The value that telemetry gives for "/weft/…"; the caller's reference. NULL and fault. */
json_t *lab_ask(struct lab_connection *connection, const char *command, struct fault *fault);

/* A command that answers "ok …" or "error: …". 0 and what follows "ok " in 'answer' (may be NULL),
 * or -EINVAL and fault. */
int lab_order(struct lab_connection *connection, const char *command, char *answer, size_t size,
	struct fault *fault);

/* {"s0": {counters}, …} of all devices of a class (switch, nic, port, congestion), into 'into'. 0,
 * or -EPROTO and fault. */
int lab_ask_class(
	struct lab_connection *connection, const char *class, json_t *into, struct fault *fault);

/* All pages of /weft/links. */
json_t *lab_ask_links(struct lab_connection *connection, struct fault *fault);
