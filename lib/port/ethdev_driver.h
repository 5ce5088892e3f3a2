/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Facts of DPDK's drivers that rte_eth_dev_info_get() does not tell: how long the ring of a virtual
 * device really is, to what a NIC's driver rounds its buffers. A driver that is not listed is taken
 * for that of a NIC, and everything is asked of it. Read from the sources of DPDK 22.11.
 */

#include <stdbool.h>
#include <stdint.h>

struct ethdev_driver {
	const char *name; /* prefix of what the driver or the device is called */
	bool is_virtual;  /* no NIC: frames are copied or handed over, limits are not reported */
	/* --- virtual devices: the receive ring has nothing to do with descriptors --- */
	const char *ring_argument;   /* devargs key of the ring's size, NULL: fixed */
	bool ring_is_log2;           /* the argument is the logarithm of the size */
	uint32_t ring_slots;         /* without the argument; 0: the descriptors */
	const char *buffer_argument; /* devargs key of a slot's bytes: longer frames take several */
	uint32_t buffer_bytes;
	bool keeps_sent; /* hands its mbufs to the other end, which has ring_slots of them */
	bool overhears;  /* hears every interface of its namespace until it is bound to its own */
	/* --- NICs --- */
	bool buffers_are_powers; /* receive buffers are rounded down to a power of two */
	bool unsafe_cleanup;     /* its tx_done_cleanup() is not safe with every way of sending */
};

/* Never NULL. */
const struct ethdev_driver *ethdev_driver_find(const char *name);
/* The same for a device that EAL has not probed: of a PCI address, the driver of its vendor that
 * takes most memory. 'root' is put in front of /sys; "" but in tests. */
const struct ethdev_driver *ethdev_driver_guess(const char *root, const char *dpdk);

/* Frames of 'frame_bytes' that can wait in the receive ring of a device. 'arguments': its devargs,
 * may be NULL. */
uint32_t ethdev_driver_slots(const struct ethdev_driver *driver, const char *arguments,
	uint32_t descriptors, uint32_t frame_bytes);

/* Bytes of an mbuf, so that a frame of 'frame_bytes' comes in one. The device's own minima:
 * 'least_mtu' of its MTU, 'least_bytes' of a buffer; 0: none. */
uint32_t ethdev_driver_room(const struct ethdev_driver *driver, uint32_t frame_bytes,
	uint32_t least_mtu, uint32_t least_bytes);
