/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A port that leads over IP to another machine: a frame per UDP datagram, as in RFC 7510 for MPLS,
 * after a header of 8 bytes (docs/reference/wire-format.md, 'Links over UDP'). Late datagrams are
 * dropped (udp_peer.h), so frames keep their order. It is not an ethdev.
 *
 * Datagrams from other addresses do not arrive: the socket is connected. Addresses can be forged;
 * security.link-key protects against that. port_losses: rx_missed, datagrams that did not arrive in
 * order; rx_errors, those without a frame or of an earlier session; tx_errors, those that the
 * kernel refused, or for which there was no port at the far end. */

#include <stdbool.h>

#include "port.h"

/* "udp:LOCAL:PORT>REMOTE:PORT", both of them IPv4 addresses. */
#define PORT_UDP_SCHEME "udp:"

bool port_is_udp(const char *device);

/* Opens the port. Frames go to mbufs of 'pool', which have room for 'frame_bytes', the longest
 * frame of both ends. 0, or -errno and an error that names the port and the device; -EMSGSIZE: the
 * path there does not carry such frames. */
int port_open_udp(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);
