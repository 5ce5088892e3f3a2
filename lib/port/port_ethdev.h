/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Ports that are ethdevs: PCI NICs and DPDK's virtual devices. A port is opened in two steps,
 * because the pool of its frames depends on the driver:
 *
 *     port_attach_ethdev()    finds the device, or plugs it in
 *     port_ethdev_needs()     mbufs and room that its driver wants, and its longest frame
 *     port_pool_create()
 *     port_start_ethdev()     sets up its queues and starts it
 *
 * port_close() ends both. The main thread calls all of these. A virtual device needs nothing that
 * its name does not tell (port_ethdev_needs_most()), and a memif server that is found and not
 * started turns its client away for good: start a virtual device right after it was attached.
 *
 * Weft itself drops nothing in a port; a NIC, a kernel socket or a ring may. port_losses_read()
 * tells what they count.
 */

#include <stdint.h>

#include "port.h"

/* Descriptors of the receive ring where the caller asks for no other number: frames that can wait
 * while the core is away. */
#define PORT_RX_DESCRIPTORS 2048

struct port_ethdev_config {
	uint32_t frame_bytes;    /* longest frame, from the Ethernet header on, without its CRC */
	uint16_t rx_descriptors; /* 0: PORT_RX_DESCRIPTORS */
	uint16_t tx_descriptors; /* 0: what the device's speed asks for */
};

/* The mbufs that an ethdev takes of the pools of its users, and their room. */
struct port_ethdev_needs {
	unsigned received_mbufs; /* in its receive ring before anything comes */
	/* That its transmit ring may keep: a NIC's driver frees what was sent when its ring is
	 * nearly full and not before. They are of the pool that the sender took them from. */
	unsigned sent_mbufs;
	uint32_t room_bytes; /* of an mbuf, so that the driver takes it and a frame fits in one */
	uint32_t frame_bytes_max; /* longest frame that the device can be set to */
	const char *device;       /* its name, for messages; lives as long as the port */
};

/* Finds the ethdev 'dpdk' (a PCI address or a vdev name that EAL has probed, or "net_xxx,args",
 * which is then hot-plugged). 0, or -errno and a fault that names the device, what is wrong and, of
 * a PCI device, what to do about it. */
int port_attach_ethdev(struct port *port, const char *name, const char *dpdk, struct fault *fault);

/* Whether 'dpdk' names a NIC, not one of DPDK's virtual devices. */
bool port_ethdev_is_nic(const char *dpdk);

/* Of an attached port. */
void port_ethdev_needs(const struct port *port, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs);
/* Fills the needs of a virtual device called 'dpdk', or the most that a NIC can need; EAL need not
 * run. frame_bytes_max is UINT32_MAX. */
void port_ethdev_needs_most(
	const char *dpdk, const struct port_ethdev_config *config, struct port_ethdev_needs *needs);

/* One receive and one transmit queue; 'pool' has mbufs of room_bytes or more. 0, or -errno and a
 * fault with the driver's own words; -EMSGSIZE: frame_bytes is more than frame_bytes_max. */
int port_start_ethdev(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct fault *fault);

/* From now on a NIC's carrier is watched, and what it loses is looked at each second, in DPDK's
 * interrupt thread. Nothing for a virtual device. When all ports of the process are started: what
 * a driver says meanwhile would be taken for words about the port that is being set up. */
void port_watch_ethdev(struct port *port);
/* Ends that, for a port that may be none; port_close() does it, too, but for this port alone. */
void port_unwatch_ethdev(struct port *port);

struct port_ethdev_link {
	bool up;             /* what a virtual device says of this means nothing */
	bool is_nic;         /* no virtual device */
	uint32_t speed_mbps; /* 0: unknown */
	const char *driver;  /* "net_e1000_em" */
	unsigned rx_descriptors, tx_descriptors;
};

/* What the device says of its cable. False: the port is no started ethdev. Any thread but a poll
 * loop: a driver may have to ask its firmware. */
bool port_ethdev_link(const struct port *port, struct port_ethdev_link *link);

#define PORT_LOSSES(X)                                          \
	X(rx_missed, "frames that found the receive ring full") \
	X(rx_no_buffer, "frames for which there was no mbuf")   \
	X(rx_errors, "frames received damaged")                 \
	X(rx_segmented, "frames that do not fit in one mbuf")   \
	X(tx_errors, "frames that the device could not send")

struct port_losses {
#define X(name, text) uint64_t name;
	PORT_LOSSES(X)
#undef X
};

/* All 0 for ports that are no ethdevs. Any thread but a poll loop, as port_ethdev_link(). */
void port_losses_read(const struct port *port, struct port_losses *losses);
/* As of the last second, of a port that is watched; 0 of others. Any thread, a poll loop as well.
 */
void port_losses_seen(const struct port *port, struct port_losses *losses);
