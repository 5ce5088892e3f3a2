/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The endpoints of a host (host/endpoint.h) in its poll loop. A control thread attaches and
 * detaches programs; the loop never waits for it. Each endpoint number passes through these states:
 *
 *     FREE     thread: sets endpoint and bell, then        NEW
 *     NEW      loop: starts to serve it, then              SERVED
 *     SERVED   thread: when the program has ended          CLOSING
 *     CLOSING  loop: when nothing refers to it             OVER, and rings 'thread_bell'
 *     OVER     thread: frees memory and bell, then         FREE
 *
 * A host without programs costs its loop one load per iteration. */

#include <stdatomic.h>
#include <stdbool.h>

#include "host/endpoint.h"
#include "nic/nic.h"
#include "poll_nic.h"

enum poll_nic_endpoint_state {
	POLL_NIC_ENDPOINT_FREE,
	POLL_NIC_ENDPOINT_NEW,
	POLL_NIC_ENDPOINT_SERVED,
	POLL_NIC_ENDPOINT_CLOSING,
	POLL_NIC_ENDPOINT_OVER,
};

struct poll_nic_endpoints {
	struct endpoint_set *set;
	atomic_bool active; /* the loop has work to do */
	int thread_bell;    /* eventfd of the control thread */
	struct poll_nic_endpoint {
		atomic_uint state;
		struct endpoint *endpoint;
		int bell; /* eventfd of the program */
	} at[ENDPOINTS_MAX];
	uint16_t count;
};

/* Allows up to 'count' programs to use the host. Call before the first iteration. Returns 0 or
 * -ENOMEM. */
int poll_nic_set_endpoints(struct poll_nic *pn, uint16_t count, int thread_bell);
void poll_nic_endpoints_fini(struct poll_nic *pn);

/* Control thread: passes a free number to the loop, or starts to reclaim it. */
void poll_nic_endpoint_attach(
	struct poll_nic *pn, unsigned number, struct endpoint *endpoint, int bell);
void poll_nic_endpoint_detach(struct poll_nic *pn, unsigned number);

/* Loop: returns true if a program is attached, or a previous one left work to do. */
static inline bool poll_nic_endpoints_active(const struct poll_nic *pn)
{
	return pn->endpoints != NULL &&
	       atomic_load_explicit(&pn->endpoints->active, memory_order_relaxed);
}

/* Loop: passes messages of programs to the interface. Returns the number of pieces moved. */
unsigned poll_nic_endpoints_run(struct poll_nic *pn, weft_time now);

/* Loop: requests or cancels bells from programs. Returns true if no program has data to send. */
bool poll_nic_endpoints_rest(struct poll_nic *pn, bool rests);
