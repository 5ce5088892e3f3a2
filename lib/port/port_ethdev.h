/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Ports that are ethdevs: PCI NICs and DPDK's virtual devices. A port is opened in steps, because
 * its mbuf pool depends on the driver:
 *
 *     port_attach_ethdev()    finds the device, or plugs it in
 *     port_ethdev_needs()     mbufs and room that its driver needs, and its longest frame
 *     port_pool_create()
 *     port_start_ethdev()     sets up its queues and starts it
 *
 * port_close() undoes all of them. Call these functions from the main thread. The needs of a
 * virtual device follow from its name (port_ethdev_needs_max()). Start a virtual device right after
 * attaching it: a memif server that is attached but not started refuses its client permanently.
 *
 * Weft drops nothing in a port; a NIC, a kernel socket or a ring may. port_losses_read() returns
 * their counts. */

#include <stdint.h>

#include "port.h"

/* Default receive ring size: frames that can wait while the core is busy elsewhere. */
#define PORT_RX_DESCRIPTORS 2048

struct port_ethdev_config {
	uint32_t frame_bytes;    /* longest frame, with Ethernet header but without CRC */
	uint16_t rx_descriptors; /* 0: PORT_RX_DESCRIPTORS */
	uint16_t tx_descriptors; /* 0: chosen from the device's speed */
	uint16_t vlan;           /* VLAN tag of all frames, 1..4094; 0: none */
	bool stamps; /* enables port_stamp_of() if the NIC supports it; may slow down the driver */
};

/* Mbufs that an ethdev takes from its users' pools, and their size. */
struct port_ethdev_needs {
	unsigned received_mbufs; /* in its receive ring before the first frame arrives */
	/* Mbufs of the sender's pool that its transmit ring may hold: a NIC's driver frees sent
	 * mbufs only when its ring is nearly full. */
	unsigned sent_mbufs;
	uint32_t room_bytes; /* smallest mbuf that is accepted and holds a frame in one segment */
	uint32_t frame_bytes_max; /* longest frame that the device can be configured for */
	const char *device;       /* its name, for messages; valid as long as the port */
	int socket;               /* NUMA node of a NIC; -1: a virtual device, or unknown */
};

/* Finds the ethdev 'dpdk': a PCI address or vdev name that EAL has probed, or "net_xxx,args", which
 * is then hot-plugged. Returns 0, or -errno with the device, the problem and, for a PCI device, the
 * remedy in 'error'. */
int port_attach_ethdev(struct port *port, const char *name, const char *dpdk, struct error *error);

/* Returns whether 'dpdk' names a NIC rather than one of DPDK's virtual devices. */
bool port_ethdev_is_nic(const char *dpdk);

/* Returns the needs of an attached port. */
void port_ethdev_needs(const struct port *port, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs);
/* Returns the needs of a virtual device called 'dpdk', or the maximum needs of a NIC. Does not need
 * EAL. frame_bytes_max is UINT32_MAX, socket -1. */
void port_ethdev_needs_max(
	const char *dpdk, const struct port_ethdev_config *config, struct port_ethdev_needs *needs);

/* Sets up one receive and one transmit queue, with mbufs of room_bytes or more from 'pool'. Returns
 * 0, or -errno with the driver's message. -EMSGSIZE: frame_bytes exceeds frame_bytes_max. */
int port_start_ethdev(struct port *port, const struct port_ethdev_config *config,
	struct rte_mempool *pool, struct error *error);

/* Returns whether the NIC stamps arriving frames in ticks of its own clock, and this clock can be
 * read. The port must be started. */
bool port_has_stamps(const struct port *port);
/* Returns the arrival time of a frame just received by port_rx(), or false if it has no stamp. Call
 * only if port_has_stamps(). */
bool port_stamp_of(const struct port *port, const struct rte_mbuf *mbuf, uint64_t *ticks);
/* Reads the NIC's clock, a device register, in about a microsecond. Returns false if the driver
 * fails or another thread is querying the device. Any thread may call; never waits. */
bool port_stamps_now(const struct port *port, uint64_t *ticks);

/* Checks a NIC's carrier, and then watches it, and its losses once per second, in DPDK's interrupt
 * thread. Does nothing for other ports. Call it once all ports of the process have started, because
 * driver messages during a port's setup are attributed to that port. */
void port_watch_ethdev(struct port *port);
/* Stops watching. The port need not be open. port_close() also does this, for its port only. */
void port_unwatch_ethdev(struct port *port);

struct port_ethdev_link {
	bool up;             /* undefined for a virtual device */
	bool is_dark;        /* a NIC or a kernel interface without carrier */
	uint32_t speed_mbps; /* 0: unknown */
	const char *driver;  /* "net_e1000_em" */
	unsigned rx_descriptors, tx_descriptors;
};

/* Reports the state of the cable. Returns false if the port has none or is not started. Any thread
 * except a poll loop: a driver may have to query its firmware. */
bool port_ethdev_link(const struct port *port, struct port_ethdev_link *link);

#define PORT_LOSSES(X)                                                      \
	X(rx_missed, "frames that arrived while the receive ring was full") \
	X(rx_no_buffer, "frames for which there was no mbuf")               \
	X(rx_errors, "damaged frames")                                      \
	X(rx_segmented, "frames that do not fit in one mbuf")               \
	X(tx_errors, "frames that the device could not send")

struct port_losses {
#define X(name, text) uint64_t name;
	PORT_LOSSES(X)
#undef X
};

/* Reads the losses; 0 for in-memory links. Any thread except a poll loop. */
void port_losses_read(const struct port *port, struct port_losses *losses);
/* Reads losses that are at most a second old for a watched port, current for a shared one (port.h),
 * and 0 for others. Any thread, including a poll loop. */
void port_losses_seen(const struct port *port, struct port_losses *losses);

/* Checks that a device can send and receive the longest frame of a fabric. 'extra_bytes': a latency
 * extension and a tag. Returns 0, or -EINVAL with the largest nic.mtu that fits in 'error'. */
int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, uint32_t extra_bytes, struct error *error);
