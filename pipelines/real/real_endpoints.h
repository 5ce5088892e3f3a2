/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Attaches programs to the hosts of a process (host/endpoint_memory.h): a control thread answers
 * on a socket in the lab's run directory, makes the shared memory, and gives it to the loop of the
 * host. A program is attached as long as its connection lasts, so it is detached when it dies. */

#include "real_private.h"

/* Binds the socket; must be called before the hosts are created. Does nothing without
 * options.endpoints. Returns 0, or -errno with error set. */
int real_endpoints_create(struct real_fabric *fabric, struct error *error);
void real_endpoints_destroy(struct real_fabric *fabric);
/* Lets programs use the host, if the process has endpoints. Returns 0, or -errno with error set. */
int real_endpoints_add_host(
	struct real_fabric *fabric, struct real_host *host, struct error *error);
/* Number of hosts that programs use, through edges or endpoints. */
uint32_t real_program_hosts(const struct real_fabric *fabric);
/* The control thread. It stops after the loops, because it frees endpoints that they use. */
void real_endpoints_start(struct real_fabric *fabric);
void real_endpoints_stop(struct real_fabric *fabric);
