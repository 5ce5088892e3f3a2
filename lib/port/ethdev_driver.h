/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Properties of DPDK's drivers that rte_eth_dev_info_get() does not report: the real ring size of a
 * virtual device, the granularity of a NIC's buffers. An unlisted driver is treated as a NIC with
 * every property. The values are from the sources of DPDK 22.11. */

#include <stdbool.h>
#include <stdint.h>

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
