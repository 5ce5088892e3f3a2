/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Attaches programs to the hosts of a process (host/endpoint_memory.h): a control thread answers
 * on a socket in the lab's run directory, makes the shared memory, and gives it to the loop of the
 * host. A program is attached as long as its connection lasts, so its death ends it. */

#include "real_private.h"

/* Binds the socket, before the hosts are made; nothing without options.endpoints. 0, or -errno and
 * error. */
int real_endpoints_create(struct real_fabric *fabric, struct error *error);
void real_endpoints_destroy(struct real_fabric *fabric);
/* The host takes programs, if the process does. 0, or -errno and error. */
int real_endpoints_add_host(
	struct real_fabric *fabric, struct real_host *host, struct error *error);
/* Hosts that programs use: with an edge, or with programs at endpoints. */
uint32_t real_program_hosts(const struct real_fabric *fabric);
/* The thread, while the loops run; it ends after them, because their endpoints go with it. */
void real_endpoints_start(struct real_fabric *fabric);
void real_endpoints_stop(struct real_fabric *fabric);
