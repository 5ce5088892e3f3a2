/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Attaches programs to the hosts of a process (host/endpoint_memory.h). A control thread serves a
 * socket in the lab's run directory, creates the shared memory and passes it to the host's loop. A
 * program stays attached while its connection is open, so it is detached when it exits. */

#include "real_private.h"

/* Binds the socket. Call before the hosts are created. Does nothing without options.endpoints.
 * Returns 0, or -errno with error set. */
int real_endpoints_create(struct real_fabric *fabric, struct error *error);
void real_endpoints_destroy(struct real_fabric *fabric);
/* Lets programs attach to the host, if the process has endpoints. Returns 0, or -errno with error
 * set. */
int real_endpoints_add_host(
	struct real_fabric *fabric, struct real_host *host, struct error *error);
/* Returns the number of hosts that programs use through edges or endpoints. */
uint32_t real_program_hosts(const struct real_fabric *fabric);
/* The control thread. Stop it after the loops, because it frees endpoints that they use. */
void real_endpoints_start(struct real_fabric *fabric);
void real_endpoints_stop(struct real_fabric *fabric);
