/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The endpoints of a host (host/endpoint.h) in its poll loop. A control thread attaches programs
 * and takes them off; the loop never waits for it. The state of a number passes between the two:
 *
 *     FREE   thread: fills endpoint and bell, then   NEW
 *     NEW    loop: serves it, then                   SERVED
 *     SERVED thread: the program has ended           CLOSING
 *     CLOSING loop: nothing refers to it any more    OVER, and rings 'thread_bell'
 *     OVER   thread: frees memory and bell, then     FREE
 *
 * A host without programs costs its loop a load for each iteration. */

#include <stdatomic.h>
#include <stdbool.h>

#include "host/endpoint.h"
#include "nic/nic.h"

struct poll_nic;

enum poll_nic_endpoint_state {
	POLL_NIC_ENDPOINT_FREE,
	POLL_NIC_ENDPOINT_NEW,
	POLL_NIC_ENDPOINT_SERVED,
	POLL_NIC_ENDPOINT_CLOSING,
	POLL_NIC_ENDPOINT_OVER,
};

struct poll_nic_endpoints {
	struct endpoint_set *set;
	atomic_bool active; /* the loop has something to do */
	int thread_bell;    /* eventfd of the control thread */
	struct poll_nic_endpoint {
		atomic_uint state;
		struct endpoint *endpoint;
		int bell; /* eventfd of the program */
	} at[ENDPOINTS_MAX];
	uint16_t count;
};

/* Lets programs use the host, up to 'count' at a time; before the first iteration. 0 or -ENOMEM. */
int poll_nic_set_endpoints(struct poll_nic *pn, uint16_t count, int thread_bell);
void poll_nic_endpoints_fini(struct poll_nic *pn);

/* Thread: gives a free number to the loop. */
void poll_nic_endpoint_attach(
	struct poll_nic *pn, unsigned number, struct endpoint *endpoint, int bell);
void poll_nic_endpoint_detach(struct poll_nic *pn, unsigned number);

/* Loop: messages of programs to the interface. The number of pieces moved. */
unsigned poll_nic_endpoints_run(struct poll_nic *pn, weft_time now);

/* Loop: asks programs for a bell, or no longer. True: none of them has anything to send. */
bool poll_nic_endpoints_rest(struct poll_nic *pn, bool rests);
