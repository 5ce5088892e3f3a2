/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_parts.h"

#include "virtual_measure.h"

uint64_t virtual_packets_of(const struct virtual_worker *worker)
{
	uint64_t out = worker->fabric->pool.out;

	for (unsigned i = 0; i < worker->parts->count; i++)
		out += worker->box[worker->side][i].packets;
	return out;
}

uint64_t virtual_packets_out(const struct virtual_fabric *fabric)
{
	uint64_t out = 0;

	if (fabric->parts == NULL)
		return fabric->pool.out;
	for (unsigned i = 0; i < fabric->parts->own; i++)
		out += virtual_packets_of(&fabric->parts->worker[i]);
	return out + fabric->parts->out_elsewhere;
}

void virtual_parts_join(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_parts_count(fabric); i++) {
		const struct virtual_fabric *part = virtual_part_at(fabric, i);

		fabric->now = part->now > fabric->now ? part->now : fabric->now;
		fabric->failed = fabric->failed || part->failed;
		if (fabric->refused == NULL)
			fabric->refused = part->refused;
	}
}

static void gather_entry(struct virtual_entry *into, struct virtual_entry *from, uint32_t hosts)
{
	into->wire_bytes += from->wire_bytes;
	into->held_bytes += from->held_bytes;
	into->latency_sum_ps += from->latency_sum_ps;
	into->warm_messages += from->warm_messages;
	histogram_merge(&into->network_ns, &from->network_ns);
	histogram_merge(&into->total_ns, &from->total_ns);
	for (uint32_t i = 0; from->flow != NULL && i < hosts; i++) {
		struct measure_flow *flow = &from->flow[i];

		into->flow[i].delivered += flow->delivered;
		if (flow->last_ps > into->flow[i].last_ps)
			into->flow[i].last_ps = flow->last_ps;
		*flow = (struct measure_flow){0};
	}
	*from = (struct virtual_entry){.flow = from->flow};
}

void virtual_parts_gather(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_parts_count(fabric); i++) {
		struct virtual_fabric *part = virtual_part_at(fabric, i);

		for (unsigned k = 0; k < fabric->window.entries; k++)
			gather_entry(&fabric->entry[k], &part->entry[k], fabric->hosts);
		virtual_order_gather(fabric->held, part->held);
		fabric->arns_sent += part->arns_sent;
		fabric->goal_messages += part->goal_messages;
		fabric->goal_wire_bytes += part->goal_wire_bytes;
		fabric->dropped += part->dropped;
		fabric->fingerprint += part->fingerprint;
		part->arns_sent = part->dropped = part->fingerprint = 0;
		part->goal_messages = part->goal_wire_bytes = 0;
	}
}

const char *virtual_parts_text(const struct virtual_fabric *fabric, char text[VIRTUAL_PARTS_TEXT])
{
	const struct virtual_parts *parts = fabric->parts;

	if (parts->ranks == NULL)
		snprintf(text, VIRTUAL_PARTS_TEXT, "--workers %u", parts->own);
	else if (parts->own == 1)
		snprintf(text, VIRTUAL_PARTS_TEXT, "--mpi %u", parts->ranks->count);
	else
		snprintf(text, VIRTUAL_PARTS_TEXT, "--mpi %u --workers %u", parts->ranks->count,
			parts->own);
	return text;
}
