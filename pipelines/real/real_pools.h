/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How many mbufs the devices of a process need, and of what size. This is computed from its ports,
 * so that no driver that keeps sent mbufs can take them all, and so that EAL gets exactly the
 * memory that it needs. Pure arithmetic. */

#include <stdint.h>

#include "port/port_ethdev.h"

struct real_pool_request {
	unsigned ends;      /* ports of devices that live here */
	unsigned transit;   /* buffers that hosts which re-inject may keep */
	unsigned held;      /* frames that ports hold back (tx_queue_pace()) */
	uint32_t mtu_bytes; /* payload of the longest frame */
	unsigned lcores;    /* poll loops, each with a cache of mbufs */
	/* Sums over the external ports, and the largest buffer that any of them needs. */
	unsigned received_mbufs, sent_mbufs;
	uint32_t room_bytes;
	unsigned node; /* common node of all NICs so far: their socket + 1; 0: none; REAL_POOL_MIXED
			*/
};

#define REAL_POOL_MIXED UINT32_MAX

struct real_pool_sizes {
	unsigned data_mbufs, control_mbufs;
	uint32_t data_bytes, control_bytes; /* frame sizes as port_pool_create() takes them */
	int socket; /* the socket of all NICs; -1: no NICs, or NICs on several sockets */
};

/* Adds what one external port needs. */
void real_pool_add(struct real_pool_request *request, const struct port_ethdev_needs *needs);

void real_pool_sizes(const struct real_pool_request *request, struct real_pool_sizes *sizes);

/* Memory for EAL, MiB: both pools, the rings of ports, and DPDK's own needs. */
unsigned real_pool_memory_mib(
	const struct real_pool_request *request, const struct real_pool_sizes *sizes);
