/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Computes how many mbufs of what size the devices of a process need, from its ports. Drivers that
 * retain sent mbufs must not exhaust the pools, and EAL should get exactly the memory needed. */

#include <stdint.h>

#include "port/port_ethdev.h"

#define REAL_PORT_MBUFS 1024u /* most of a port's buffer; an empty pool delays senders */

struct real_pool_request {
	unsigned ends;      /* ports of local devices */
	unsigned transit;   /* buffers that re-injecting hosts may hold */
	unsigned held;      /* frames that ports delay (tx_queue_pace()) */
	uint32_t mtu_bytes; /* maximum payload of a frame */
	unsigned lcores;    /* poll loops, each with an mbuf cache */
	/* Sums over the external ports, and the largest buffer size that any of them needs. */
	unsigned received_mbufs, sent_mbufs;
	uint32_t room_bytes;
	bool ethdevs;  /* some of these are ethdevs */
	unsigned node; /* NUMA node of all NICs so far, plus 1; 0: none; REAL_POOL_MIXED */
};

#define REAL_POOL_MIXED UINT32_MAX

struct real_pool_sizes {
	unsigned data_mbufs, control_mbufs;
	uint32_t data_bytes, control_bytes; /* frame sizes for port_pool_create() */
	int socket; /* socket of all NICs; -1: several sockets; PORT_POOL_LAZY: no ethdevs */
};

/* Adds the needs of an external port. */
void real_pool_add(struct real_pool_request *request, const struct port_ethdev_needs *needs);

void real_pool_sizes(const struct real_pool_request *request, struct real_pool_sizes *sizes);

/* Returns the memory for EAL in MiB: both pools unless lazy, the ports' rings, and DPDK's own
 * needs. */
unsigned real_pool_memory_mib(
	const struct real_pool_request *request, const struct real_pool_sizes *sizes);
