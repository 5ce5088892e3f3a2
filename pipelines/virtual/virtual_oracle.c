/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The oracle of df-ugal-g (lib/switch/detour.h): it reads the queues of other switches. */

#include "virtual_oracle.h"

/* Blocks that wait for an output, and those that the next device stores or that are in flight. */
static uint64_t channel_blocks(const struct weft_switch *sw, unsigned output)
{
	const struct link_end *link = &sw->port[output].link;
	uint64_t blocks = 0;

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		uint32_t left = credit_available(&link->tx[vc]);

		if (left < link->rx[vc].capacity)
			blocks += link->rx[vc].capacity - left;
		for (unsigned input = 0; input < sw->ports; input++)
			blocks += switch_queues(sw, output, input)[vc].blocks;
	}
	return blocks;
}

static uint64_t global_ports(const struct weft_switch *sw, uint64_t set)
{
	return set & sw->usable & sw->vc_rule->dateline[sw->vc_rule_at];
}

static uint64_t global_queue(const void *ctx, const struct weft_switch *sw,
	const struct weft_packet *packet, unsigned output, enum vc_turn turn)
{
	const struct virtual_fabric *fabric = ctx;
	struct topology_port far;
	uint64_t ports;

	if (global_ports(sw, BIT64(output)) != 0)
		return channel_blocks(sw, output);
	if (!topology_peer(fabric->topology,
		    (struct topology_port){DEVICE_SWITCH, sw->vc_rule_at, (uint8_t)output}, &far))
		return UINT32_MAX;
	sw = fabric->sw[far.device];
	ports = turn == VC_NEXT_STEP ? sw->table_alternatives[packet->destination]
				     : BIT64(switch_table_port(sw, packet->destination) % 64u);
	ports = global_ports(sw, ports);
	if (ports == 0)
		return UINT32_MAX;
	return channel_blocks(sw, detour_draw_for(sw->detour.config.seed, packet, ports));
}

void virtual_oracle_open(const struct virtual_fabric *fabric)
{
	for (uint32_t at = 0; at < fabric->switches; at++) {
		fabric->sw[at]->detour.oracle = global_queue;
		fabric->sw[at]->detour.oracle_ctx = fabric;
	}
}
