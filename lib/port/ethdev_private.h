/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of an ethdev port, shared by ethdev_*.c and port_ethdev.c. */

#include <pthread.h>
#include <rte_ethdev.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "port_ethdev.h"

/* Properties of DPDK's drivers that rte_eth_dev_info_get() does not report: the real ring size of a
 * virtual device, the granularity of a NIC's buffers. An unlisted driver is treated as a NIC with
 * none of these properties. The values are from the sources of DPDK 22.11. */

struct ethdev_driver {
	const char *name; /* prefix of the driver or device name */
	bool is_virtual;  /* not a NIC: copies or passes on frames, does not report limits */
	/* --- virtual devices: descriptors do not determine the receive ring --- */
	const char *ring_argument;   /* devargs key of the ring size; NULL: fixed */
	bool ring_is_log2;           /* the argument is the base-2 logarithm of the size */
	uint32_t ring_slots;         /* default; 0: number of descriptors */
	const char *buffer_argument; /* devargs key of the slot size; frames may take several */
	uint32_t buffer_bytes;
	bool is_ethernet; /* can be connected to a bridge, like a NIC */
	bool keeps_sent;  /* passes its mbufs to the peer, whose ring has ring_slots */
	/* --- NICs --- */
	bool buffers_are_powers; /* receive buffers are rounded down to a power of two */
	bool unsafe_cleanup;     /* tx_done_cleanup() is unsafe with some transmit functions */
};

/* Returns the entry of a driver or device; never NULL. */
const struct ethdev_driver *ethdev_driver_find(const char *name);
/* The same for a device that EAL has not probed. For a PCI address, returns the vendor's driver
 * that needs the most memory. 'root' is a prefix of /sys, "" except in tests. */
const struct ethdev_driver *ethdev_driver_guess(const char *root, const char *dpdk);

/* Returns the number of frames of 'frame_bytes' that fit into a device's receive ring. 'arguments':
 * its devargs; may be NULL. */
uint32_t ethdev_driver_slots(const struct ethdev_driver *driver, const char *arguments,
	uint32_t descriptors, uint32_t frame_bytes);

/* Returns the bytes of an mbuf that holds a frame of 'frame_bytes' in one segment. 'min_mtu',
 * 'min_bytes': the device's minimum MTU and buffer size; 0: none. */
uint32_t ethdev_driver_room(const struct ethdev_driver *driver, uint32_t frame_bytes,
	uint32_t min_mtu, uint32_t min_bytes);

/* Default transmit ring size of the fastest devices. */
#define ETHDEV_TX_MOST 1024

/* Reads a device's clock. Returns 0 or -errno. */
typedef int ethdev_clock_fn(uint16_t ethdev, uint64_t *ticks);

/* Arrival stamps, and the clock from which they are taken. */
struct ethdev_stamps {
	ethdev_clock_fn *read; /* NULL: the device does not stamp frames */
	int offset;            /* offset of the stamp in an mbuf */
	uint64_t flag;
};

struct ethdev_ctx {
	uint64_t rx_segmented; /* written by the receiving thread */
	struct port *port;
	char dpdk[64]; /* device name without arguments, for messages */
	struct rte_device *device;
	const struct ethdev_driver *driver;
	struct rte_eth_dev_info info;
	uint16_t rx_descriptors, tx_descriptors; /* valid after the start */
	struct ethdev_stamps stamps;             /* likewise */
	bool ours; /* plugged in by Weft, so removed when the port is closed */
	bool running;
	bool watched; /* by port_watch_ethdev() */
	/* Held by the thread that queries the device: drivers do not support concurrent queries. */
	pthread_mutex_t asking;
	/* Written by EAL's interrupt thread. */
	bool was_up; /* the link has been up */
	unsigned looks;
	struct port_losses seen; /* at the last check */
	weft_time idle_due;      /* written by the port's thread */
};

/* ethdev_setup.c: sets port->ethdev and ctx->ours. Returns 0, or -errno with 'error' set. */
int ethdev_find(struct port *port, const char *dpdk, struct error *error);

/* ethdev_setup.c: returns the largest MTU, without Ethernet header; UINT16_MAX if virtual. */
uint32_t ethdev_mtu_max(const struct ethdev_ctx *ctx);
/* Sets ctx->rx_descriptors and tx_descriptors within the device's limits. */
void ethdev_choose_rings(struct ethdev_ctx *ctx, const struct port_ethdev_config *config);
/* Configures the device, sets up its queues and starts it. */
int ethdev_set_up(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error);

/* ethdev_driver.c: finds out how to read the clock of a device that was started with
 * RTE_ETH_RX_OFFLOAD_TIMESTAMP. */
void ethdev_stamps_begin(struct ethdev_ctx *ctx);

/* port_ethdev.c: queries the device. The caller holds ctx->asking. */
void ethdev_read_losses(const struct ethdev_ctx *ctx, struct port_losses *losses);

/* ethdev_driver.c: stops watching the port, and waits for a running check. */
void ethdev_forget(struct port *port);

/* Captures DPDK's log during an operation for an error message, instead of printing it. Main thread
 * only, one at a time: a process has one DPDK log stream. */

struct log_capture {
	char *text; /* valid after log_capture_end(); may be NULL */
	size_t size;
	FILE *stream;
};

void log_capture_begin(struct log_capture *log);
void log_capture_end(struct log_capture *log);
/* Frees the text. */
void log_capture_free(struct log_capture *log);
