/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Opens an ethdev or a kernel interface in one step with an existing pool. */

#include "port/port.h"
#include "port/port_ethdev.h"

#include <rte_mbuf.h>

/* Frames are as long as the pool allows. Each ring has 'descriptors'. */
static inline int open_port_ethdev(struct port *port, const char *name, const char *dpdk,
	uint16_t descriptors, struct rte_mempool *pool, struct error *error)
{
	const struct port_ethdev_config config = {
		.frame_bytes = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM,
		.rx_descriptors = descriptors,
		.tx_descriptors = descriptors,
	};
	int result;

	if (port_is_packet(dpdk))
		return port_open_packet(port, name, dpdk, config.frame_bytes, 0, pool, error);
	result = port_attach_ethdev(port, name, dpdk, error);
	return result < 0 ? result : port_start_ethdev(port, &config, pool, error);
}
