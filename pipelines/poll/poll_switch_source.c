/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "poll_switch_private.h"

#include <arpa/inet.h>

void poll_switch_guard(
	struct poll_switch *ps, unsigned at, uint16_t fabric, const struct link_key *key)
{
	port_auth_init(&ps->port[at].guard, ps->port[at].port, fabric, key, &ps->sw->port[at].link);
}

void poll_switch_set_host(struct poll_switch *ps, unsigned at, uint16_t host, bool in_transit)
{
	struct poll_switch_port *port = &ps->port[at];

	port->source.known = true;
	port->source.in_transit = in_transit;
	port->source.host = host;
	port->guard.identity = frame_identity_of_host(port->guard.fabric, host);
}

void poll_switch_learn_hosts(struct poll_switch *ps, bool in_transit)
{
	ps->learns_hosts = true;
	ps->hosts_in_transit = in_transit;
}

void poll_switch_learn_host(struct poll_switch *ps, unsigned at)
{
	const struct link_end *link = &ps->sw->port[at].link;
	struct poll_switch_port *port = &ps->port[at];
	uint64_t host = link->peer_device - FRAME_HOST_DEVICE;

	if (!ps->learns_hosts || link->state != LINK_UP)
		return;
	if (link->peer_kind == 1 && host < FRAME_HOST_NONE) {
		poll_switch_set_host(ps, at, (uint16_t)host, ps->hosts_in_transit);
		return;
	}
	port->source.known = false;
	port->guard.identity = frame_identity_of(port->guard.fabric);
}

/* Returns true if a host re-injected the frame: its previous element is an in-transit mark. */
static bool was_in_transit(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return header->cursor != 0 &&
	       frame[FRAME_HEADER_BYTES + header->cursor - 1] == ROUTE_TYPE_ITB;
}

bool poll_switch_source_passes(const struct poll_switch *ps, unsigned at, const uint8_t *frame)
{
	const struct poll_switch_source *source = &ps->port[at].source;
	const struct frame_header *header = frame_header_const(frame);

	if (!source->known || header->kind == FRAME_SCOUT || header->kind == FRAME_MAPPER ||
		ntohs(header->source_be) == source->host)
		return true;
	return source->in_transit && was_in_transit(frame);
}

void poll_switch_source_refuse(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf)
{
	const struct frame_header *header =
		frame_header_const(rte_pktmbuf_mtod(mbuf, const uint8_t *));
	struct credit_rx *rx = &ps->sw->port[at].link.rx[header->vc];
	uint32_t blocks = frame_blocks(rte_pktmbuf_data_len(mbuf));

	ps->port[at].source.spoofed++;
	if (header->vc >= ps->sw->vcs)
		return;
	credit_arrive(rx, blocks);
	credit_release(rx, blocks);
}
