/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_partitions.h"

#include "virtual_measure.h"

uint64_t virtual_packets_of(const struct virtual_worker *worker)
{
	uint64_t out = worker->fabric->pool.out;

	for (unsigned i = 0; i < worker->partitions->count; i++)
		out += worker->box[worker->side][i].packets;
	return out;
}

uint64_t virtual_packets_out(const struct virtual_fabric *fabric)
{
	uint64_t out = 0;

	if (fabric->partitions == NULL)
		return fabric->pool.out;
	for (unsigned i = 0; i < fabric->partitions->own; i++)
		out += virtual_packets_of(&fabric->partitions->worker[i]);
	return out + fabric->partitions->out_elsewhere;
}

void virtual_partitions_join(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_partitions_count(fabric); i++) {
		const struct virtual_fabric *partition = virtual_partition_at(fabric, i);

		fabric->now = partition->now > fabric->now ? partition->now : fabric->now;
		fabric->failed = fabric->failed || partition->failed;
		if (fabric->refused == NULL)
			fabric->refused = partition->refused;
	}
}

static void gather_entry(struct virtual_entry *into, struct virtual_entry *from, uint32_t hosts)
{
	into->wire_bytes += from->wire_bytes;
	into->held_bytes += from->held_bytes;
	into->latency_sum_ps += from->latency_sum_ps;
	into->warm_messages += from->warm_messages;
	into->goal_messages += from->goal_messages;
	into->goal_wire_bytes += from->goal_wire_bytes;
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

void virtual_partitions_gather(struct virtual_fabric *fabric)
{
	for (unsigned i = 1; i < virtual_partitions_count(fabric); i++) {
		struct virtual_fabric *partition = virtual_partition_at(fabric, i);

		for (unsigned k = 0; k < fabric->window.entries; k++)
			gather_entry(&fabric->entry[k], &partition->entry[k], fabric->hosts);
		virtual_order_gather(fabric->held, partition->held);
		fabric->arns_sent += partition->arns_sent;
		fabric->dropped += partition->dropped;
		fabric->unsent += partition->unsent;
		fabric->fingerprint += partition->fingerprint;
		partition->arns_sent = partition->dropped = partition->unsent = 0;
		partition->fingerprint = 0;
	}
}

const char *virtual_partitions_text(
	const struct virtual_fabric *fabric, char text[VIRTUAL_PARTITIONS_TEXT])
{
	const struct virtual_partitions *partitions = fabric->partitions;

	if (partitions->ranks == NULL)
		snprintf(text, VIRTUAL_PARTITIONS_TEXT, "--workers %u", partitions->own);
	else if (partitions->own == 1)
		snprintf(text, VIRTUAL_PARTITIONS_TEXT, "--mpi %u", partitions->ranks->count);
	else
		snprintf(text, VIRTUAL_PARTITIONS_TEXT, "--mpi %u --workers %u",
			partitions->ranks->count, partitions->own);
	return text;
}
