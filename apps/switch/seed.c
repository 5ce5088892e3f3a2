/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <stdbool.h>
#include <string.h>

#define LINK_TIMEOUT_PS PS_PER_S

static bool can_send(const struct weft_switch *sw, unsigned port)
{
	return (sw->usable & BIT64(port)) != 0 &&
	       credit_available(&sw->port[port].link.tx[sw->sl_to_vc[0]]) > 0;
}

static int wait_for_links(
	struct standalone *standalone, const atomic_bool *stop, struct fault *fault)
{
	weft_time start = clock_now(&standalone->clock), now = start;
	unsigned port = 0;

	while (port < standalone->ports && !atomic_load_explicit(stop, memory_order_relaxed)) {
		standalone_poll_all(standalone, now);
		now = clock_now(&standalone->clock);
		if (can_send(standalone_owner(standalone, port)->sw, port))
			port++;
		else if (now - start > LINK_TIMEOUT_PS)
			return fault_set(fault, ETIMEDOUT,
				"%s: no credits from the far end after 1 s; --peer open for one "
				"that has none",
				standalone->port[port].name);
	}
	return 0;
}

/* The next destination with a route, from '*host' on. */
static uint16_t next_destination(const struct forwarding_table *table, uint32_t *host)
{
	uint32_t found;

	for (uint32_t tried = 0; tried < table->hosts; tried++) {
		found = *host;
		*host = (*host + 1) % table->hosts;
		if (table->port[found] != SWITCH_PORT_NONE)
			return (uint16_t)found;
	}
	return 0;
}

static struct rte_mbuf *build(
	struct standalone *standalone, uint16_t destination, unsigned bytes, uint32_t sequence)
{
	struct rte_mbuf *mbuf = rte_pktmbuf_alloc(standalone->pool);
	uint8_t sl = sequence % 16, vc = standalone->sw->sl_to_vc[sl];
	struct frame_fields fields = {
		.kind = FRAME_DATA,
		.source = (uint16_t)sequence,
		.destination = destination,
		.sequence = sequence,
		.sl = sl,
		.vc = vc,
		.vc_original = vc,
		.payload_bytes = (uint16_t)(bytes - FRAME_HEADER_BYTES),
	};
	uint8_t *frame;

	if (mbuf == NULL)
		return NULL;
	frame = rte_pktmbuf_mtod(mbuf, uint8_t *);
	memset(frame, 0, bytes);
	rte_pktmbuf_data_len(mbuf) = (uint16_t)frame_build(frame, &fields);
	rte_pktmbuf_pkt_len(mbuf) = rte_pktmbuf_data_len(mbuf);
	return mbuf;
}

static int seed_port(struct standalone *standalone, unsigned at, unsigned frames, unsigned bytes,
	struct fault *fault)
{
	struct poll_switch *ps = standalone_owner(standalone, at);
	struct credit_tx *credits = ps->sw->port[at].link.tx;
	struct port *port = ps->port[at].port;
	uint32_t host = at;

	for (unsigned i = 0; i < frames; i++) {
		uint16_t destination = next_destination(&standalone->table, &host);
		struct credit_tx *credit = &credits[standalone->sw->sl_to_vc[i % 16]];
		struct rte_mbuf *mbuf = build(standalone, destination, bytes, i);

		if (mbuf == NULL)
			return fault_set(fault, ENOMEM, "%s: no mbuf for a frame", port->name);
		if (!credit_suffices(credit, frame_blocks(bytes))) {
			rte_pktmbuf_free(mbuf);
			return fault_set(fault, EINVAL,
				"%s: --seed-frames %u: its credits are good for %u frames of %u "
				"bytes",
				port->name, frames, i, bytes);
		}
		credit_take(credit, frame_blocks(bytes));
		if (port_tx(port, &mbuf, 1, clock_now(&standalone->clock)) != 1) {
			rte_pktmbuf_free(mbuf);
			return fault_set(
				fault, EIO, "%s: takes %u of %u frames", port->name, i, frames);
		}
	}
	return 0;
}

int seed_ports(struct standalone *standalone, unsigned frames, unsigned bytes,
	const atomic_bool *stop, struct fault *fault)
{
	int result = wait_for_links(standalone, stop, fault);

	for (unsigned at = 0; at < standalone->ports && result == 0 &&
			      !atomic_load_explicit(stop, memory_order_relaxed);
		at++)
		result = seed_port(standalone, at, frames, bytes, fault);
	return result;
}
