/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A port whose link runs over IP to another machine, with one frame per UDP datagram, as in RFC
 * 7510 for MPLS, after an 8-byte header (docs/reference/wire-format.md, 'Links over UDP'). Late
 * datagrams are dropped, so frames stay in order. The port is not an ethdev.
 *
 * The socket is connected, so datagrams from other addresses do not arrive. Addresses can be
 * forged; security.link-key protects against that. port_losses: rx_missed, datagrams that did not
 * arrive in order; rx_errors, datagrams without a frame or of an earlier session; tx_errors,
 * datagrams that the kernel refused, or for which the far end had no port. */

#include <stdbool.h>
#include <stdint.h>

#include "port.h"

/* "udp:LOCAL:PORT>REMOTE:PORT", with IPv4 addresses. */
#define PORT_UDP_SCHEME "udp:"

bool port_is_udp(const char *device);

/* Opens the port. Frames are received into mbufs of 'pool', which have room for 'frame_bytes', the
 * longest frame of both ends. Returns 0, or -errno with 'error' set. -EMSGSIZE: the path does not
 * carry such frames. */
int port_open_udp(struct port *port, const char *name, const char *device, uint32_t frame_bytes,
	struct rte_mempool *pool, struct error *error);

/* Decides which datagrams of a UDP link to accept, based on the session of the sender's process and
 * the number in their header (docs/reference/wire-format.md, 'Links over UDP'). Any host that can
 * forge a source address can send a datagram of any session. That must not end the link, so the
 * previous session is remembered: a later datagram of that session makes it current again. */

struct udp_life {
	uint32_t name;     /* session; 0: none was received */
	uint32_t received; /* number of the last accepted datagram */
};

struct udp_peer {
	struct udp_life life, former;
};

enum udp_verdict {
	UDP_TAKEN,
	UDP_LATE,   /* a later one was accepted before, so this one was counted as missing */
	UDP_FOREIGN /* no session, or a late datagram of the previous one */
};

/* If the datagram is accepted, '*missing' is the number of datagrams lost before it. */
static inline enum udp_verdict udp_peer_take(
	struct udp_peer *peer, uint32_t life, uint32_t number, uint32_t *missing)
{
	const struct udp_life current = peer->life;

	if (life == 0)
		return UDP_FOREIGN;
	if (life != current.name) {
		struct udp_life next = {life, number - 1};

		if (life == peer->former.name)
			next = peer->former;
		if ((int32_t)(number - next.received) <= 0)
			return UDP_FOREIGN;
		peer->former = current;
		peer->life = next;
	}
	if ((int32_t)(number - peer->life.received) <= 0)
		return UDP_LATE;
	*missing = number - peer->life.received - 1;
	peer->life.received = number;
	return UDP_TAKEN;
}
