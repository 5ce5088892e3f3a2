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
 * every property. The values are from the sources of DPDK 22.11. */

struct ethdev_driver {
	const char *name; /* prefix of the driver's or device's name */
	bool is_virtual;  /* not a NIC: frames are copied or passed on, limits are not reported */
	/* --- virtual devices: descriptors do not determine the receive ring --- */
	const char *ring_argument;   /* devargs key of the ring size, NULL: fixed */
	bool ring_is_log2;           /* the argument is the logarithm of the size */
	uint32_t ring_slots;         /* default; 0: the number of descriptors */
	const char *buffer_argument; /* devargs key of the slot size: longer frames take several
					slots */
	uint32_t buffer_bytes;
	bool is_ethernet; /* a bridge may be connected to it, as to a NIC */
	bool keeps_sent;  /* passes its mbufs to the other end, whose ring has ring_slots */
	/* --- NICs --- */
	bool buffers_are_powers; /* receive buffers are rounded down to a power of two */
	bool unsafe_cleanup;     /* its tx_done_cleanup() is unsafe with some transmit functions */
};

/* Never NULL. */
const struct ethdev_driver *ethdev_driver_find(const char *name);
/* The same for a device that EAL has not probed; for a PCI address, returns the driver of the
 * device's vendor that needs the most memory. 'root' is a prefix of /sys; "" except in tests. */
const struct ethdev_driver *ethdev_driver_guess(const char *root, const char *dpdk);

/* Frames of 'frame_bytes' that fit into the receive ring of a device. 'arguments': its devargs, may
 * be NULL. */
uint32_t ethdev_driver_slots(const struct ethdev_driver *driver, const char *arguments,
	uint32_t descriptors, uint32_t frame_bytes);

/* Bytes of an mbuf that holds a frame of 'frame_bytes' in one segment. The device's own minima:
 * 'min_mtu' of its MTU, 'min_bytes' of a buffer; 0: none. */
uint32_t ethdev_driver_room(const struct ethdev_driver *driver, uint32_t frame_bytes,
	uint32_t min_mtu, uint32_t min_bytes);

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
