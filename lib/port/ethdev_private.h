/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of an ethdev port, shared by the files ethdev_*.c and port_ethdev.c and nobody else. */

#include <rte_ethdev.h>
#include <stdbool.h>
#include <stdint.h>

#include "ethdev_driver.h"
#include "log_capture.h"
#include "port_ethdev.h"

struct ethdev_ctx {
	uint64_t rx_segmented; /* writer: the thread that receives */
	struct port *port;
	char dpdk[64]; /* the device's name without its arguments, for messages */
	struct rte_device *device;
	const struct ethdev_driver *driver;
	struct rte_eth_dev_info info;
	uint16_t rx_descriptors, tx_descriptors; /* after the start */
	bool ours;          /* plugged in by us: taken out when the port is closed */
	bool running;       /* started */
	bool lsc;           /* its driver reports changes of the link by interrupt */
	bool watched;       /* ethdev_carrier_watch() */
	bool was_up;        /* the link has been up; writer: EAL's interrupt thread */
	weft_time idle_due; /* writer: the port's thread */
};

/* ethdev_find.c: port->ethdev and ctx->ours, or -errno and fault. */
int ethdev_find(struct port *port, const char *dpdk, struct fault *fault);

/* ethdev_setup.c: the longest MTU, with its Ethernet header left out; UINT16_MAX of a virtual
 * device. */
uint32_t ethdev_mtu_max(const struct ethdev_ctx *ctx);
/* ctx->rx_descriptors and tx_descriptors, within the device's limits. */
void ethdev_choose_rings(struct ethdev_ctx *ctx, const struct port_ethdev_config *config);
/* Configures the device, sets up its queues, starts it. */
int ethdev_set_up(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct fault *fault);

/* ethdev_carrier.c: from now on port->cut follows the link; until ethdev_carrier_forget(), which
 * waits for a look that is being taken. */
void ethdev_carrier_watch(struct port *port);
void ethdev_carrier_forget(struct port *port);
