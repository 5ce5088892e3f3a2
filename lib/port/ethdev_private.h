/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of an ethdev port, shared by the files ethdev_*.c and port_ethdev.c and nobody else. */

#include <pthread.h>
#include <rte_ethdev.h>
#include <stdbool.h>
#include <stdint.h>

#include "ethdev_driver.h"
#include "log_capture.h"
#include "port_ethdev.h"

/* Descriptors of the transmit ring of the fastest devices, where nobody asks for a number. */
#define ETHDEV_TX_MOST 1024

struct ethdev_ctx {
	uint64_t rx_segmented; /* writer: the thread that receives */
	struct port *port;
	char dpdk[64]; /* the device's name without its arguments, for messages */
	struct rte_device *device;
	const struct ethdev_driver *driver;
	struct rte_eth_dev_info info;
	uint16_t rx_descriptors, tx_descriptors; /* after the start */
	bool ours;    /* plugged in by us: taken out when the port is closed */
	bool running; /* started */
	bool watched; /* port_watch_ethdev() */
	/* Held by the thread that asks the device: drivers do not expect two at a time. */
	pthread_mutex_t asking;
	/* Writer: EAL's interrupt thread. */
	bool was_up; /* the link has been up */
	unsigned looks;
	struct port_losses seen; /* at the last look at them; read by the thread that leads */
	weft_time idle_due;      /* writer: the port's thread */
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

/* port_ethdev.c: asks the device; the caller has ctx->asking. */
void ethdev_read_losses(const struct ethdev_ctx *ctx, struct port_losses *losses);

/* ethdev_carrier.c: ends port_watch_ethdev(), and waits for a look that is being taken. */
void ethdev_forget(struct port *port);
