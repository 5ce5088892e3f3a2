/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Invariants of a virtual fabric between two events. */

#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_links.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_private.h"

/* Checks that the receiver has no more than was sent, that the sender has no more credits than were
 * granted (a credit frame may be in flight), and that these do not exceed the buffer. */
static const char *check_direction(
	const struct virtual_fabric *fabric, struct topology_port from, struct topology_port to)
{
	const struct link_end *a = virtual_end_at(fabric, from), *b = virtual_end_at(fabric, to);

	for (unsigned vc = 0; vc < a->config.vcs; vc++) {
		const struct credit_tx *tx = &a->tx[vc];
		const struct credit_rx *rx = &b->rx[vc];

		if ((int32_t)(tx->sent - rx->received) < 0)
			return "a link delivered more blocks than were sent";
		if (fabric->pauses == NULL && (int32_t)(rx->granted - tx->limit) < 0)
			return "a sender has more credits than were granted";
		if ((int32_t)(tx->limit - tx->sent) < 0)
			return "a sender exceeded its credits";
		if ((int32_t)(credit_limit(rx) - rx->granted) < 0)
			return "more credits were granted than the buffer holds";
	}
	return NULL;
}

static uint64_t count_stored(const struct virtual_fabric *fabric)
{
	uint64_t stored = 0;

	for (uint32_t at = 0; at < fabric->switches; at++)
		stored += switch_stored_packets(fabric->sw[at]);
	return stored;
}

const char *virtual_fabric_check(const struct virtual_fabric *fabric)
{
	uint64_t injected = 0, delivered = 0, out = virtual_packets_out(fabric);
	const char *wrong = NULL;

	for (uint32_t i = 0; i < fabric->topology->links && wrong == NULL; i++) {
		const struct topology_link *link = &fabric->topology->link_at[i];

		wrong = check_direction(fabric, link->a, link->b);
		if (wrong == NULL)
			wrong = check_direction(fabric, link->b, link->a);
	}
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		injected += fabric->host[i].nic.frames_sent;
		delivered += fabric->host[i].nic.frames_received;
	}
	if (wrong == NULL && injected + fabric->unsent != delivered + fabric->dropped + out)
		wrong = "packets were lost or duplicated";
	if (wrong == NULL && count_stored(fabric) + virtual_transit_held(fabric) +
					     virtual_recovery_held(fabric) +
					     virtual_order_held(fabric) >
				     out)
		wrong = "switches and hosts hold more packets than are in use";
	if (wrong == NULL)
		wrong = virtual_transit_check(fabric);
	if (wrong == NULL)
		wrong = virtual_recovery_check(fabric);
	if (wrong == NULL)
		wrong = virtual_order_check(fabric);
	if (wrong == NULL)
		wrong = virtual_cn_check(fabric);
	return wrong;
}
