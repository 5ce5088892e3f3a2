/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What an ethdev port holds, and what it loses below us. Weft itself drops nothing in a port; a
 * NIC, a kernel socket or a ring may.
 */

#include <stdint.h>

#include "port.h"

/* Mbufs of its pool that the rings of an ethdev may hold, as port_open_ethdev() names it, beside
 * the frames that wait: those of a NIC are filled before anything comes, and keep what was sent
 * until they need the place. The virtual devices that we know take an mbuf for each frame: 0. */
unsigned port_ethdev_held(const char *dpdk, unsigned descriptors);

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

/* All 0 for ports that are no ethdevs. Any thread; counters of the device, not per packet. */
void port_losses_read(const struct port *port, struct port_losses *losses);
