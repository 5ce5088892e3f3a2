/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The oracle of df-ugal-g (lib/switch/detour.h), which reads the queues of other switches. */

#include "virtual_faults.h"

/* Returns the blocks waiting for an output, in flight from it, or stored at the next device. */
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

static port_set global_ports(const struct weft_switch *sw, port_set set)
{
	return set & sw->usable & port_set_from(sw->vc_rule->dateline[sw->vc_rule_at], 0);
}

static uint64_t global_queue(const void *ctx, const struct weft_switch *sw,
	const struct weft_packet *packet, unsigned output, enum vc_turn turn)
{
	const struct virtual_fabric *fabric = ctx;
	struct topology_port far;
	port_set ports;

	if (!port_set_is_empty(global_ports(sw, port_set_of(output))))
		return channel_blocks(sw, output);
	if (!topology_peer(fabric->topology,
		    (struct topology_port){DEVICE_SWITCH, sw->vc_rule_at, (uint8_t)output}, &far))
		return UINT32_MAX;
	sw = fabric->sw[far.device];
	ports = turn == VC_NEXT_STEP
			? sw->table_alternatives[packet->destination]
			: port_set_of(switch_table_port(sw, packet->destination) % PORT_SET_PORTS);
	ports = global_ports(sw, ports);
	if (port_set_is_empty(ports))
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
