/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of an ethdev port, shared by ethdev_*.c and port_ethdev.c. */

#include <pthread.h>
#include <rte_ethdev.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ethdev_driver.h"
#include "port_ethdev.h"

/* Default size of the transmit ring of the fastest devices. */
#define ETHDEV_TX_MOST 1024

/* Reads the clock of a device; 0 or -errno. */
typedef int ethdev_clock_fn(uint16_t ethdev, uint64_t *ticks);

/* Arrival stamps, and how to read the clock from which they are taken. */
struct ethdev_stamps {
	ethdev_clock_fn *read; /* NULL: the device stamps nothing */
	int offset;            /* in an mbuf */
	uint64_t flag;
};

struct ethdev_ctx {
	uint64_t rx_segmented; /* writer: the thread that receives */
	struct port *port;
	char dpdk[64]; /* the device's name without its arguments, for messages */
	struct rte_device *device;
	const struct ethdev_driver *driver;
	struct rte_eth_dev_info info;
	uint16_t rx_descriptors, tx_descriptors; /* after the start */
	struct ethdev_stamps stamps;             /* likewise */
	bool ours;    /* plugged in by Weft: removed when the port is closed */
	bool running; /* started */
	bool watched; /* port_watch_ethdev() */
	/* Held by the thread that queries the device: drivers do not support concurrent queries. */
	pthread_mutex_t asking;
	/* Writer: EAL's interrupt thread. */
	bool was_up; /* the link has been up */
	unsigned looks;
	struct port_losses seen; /* at the last check; read by the main thread */
	weft_time idle_due;      /* writer: the port's thread */
};

/* ethdev_setup.c: sets port->ethdev and ctx->ours, or returns -errno and error. */
int ethdev_find(struct port *port, const char *dpdk, struct error *error);

/* ethdev_setup.c: the largest MTU, without the Ethernet header; UINT16_MAX for a virtual device. */
uint32_t ethdev_mtu_max(const struct ethdev_ctx *ctx);
/* Sets ctx->rx_descriptors and tx_descriptors within the device's limits. */
void ethdev_choose_rings(struct ethdev_ctx *ctx, const struct port_ethdev_config *config);
/* Configures the device, sets up its queues, starts it. */
int ethdev_set_up(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error);

/* ethdev_driver.c: for a device that was started with RTE_ETH_RX_OFFLOAD_TIMESTAMP: finds out how
 * its clock is read. Otherwise does nothing. */
void ethdev_stamps_begin(struct ethdev_ctx *ctx);

/* port_ethdev.c: queries the device; the caller holds ctx->asking. */
void ethdev_read_losses(const struct ethdev_ctx *ctx, struct port_losses *losses);

/* ethdev_driver.c: ends port_watch_ethdev(), and waits for a running check. */
void ethdev_forget(struct port *port);

/*
 * Captures DPDK's log during an operation for use in an error message, instead of printing it. Main
 * thread, one at a time: DPDK's log stream is one per process. */

struct log_capture {
	char *text; /* after log_capture_end(); may be NULL */
	size_t size;
	FILE *stream;
};

void log_capture_begin(struct log_capture *log);
void log_capture_end(struct log_capture *log);
/* Frees the text. */
void log_capture_free(struct log_capture *log);
