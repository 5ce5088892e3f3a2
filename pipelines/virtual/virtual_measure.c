/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* What a virtual fabric has measured. */

#include <stdio.h>
#include <string.h>

#include "congestion_control.h"
#include "congestion_setup.h"
#include "run_goal_result.h"
#include "switch_counters.h"
#include "virtual_private.h"

void virtual_totals_read(const struct virtual_fabric *fabric, struct virtual_totals *totals)
{
	*totals = (struct virtual_totals){.wire_bytes = fabric->wire_bytes,
		.latency_sum_ps = fabric->latency_sum_ps,
		.generated_messages = fabric->goal_messages,
		.generated_wire_bytes = fabric->goal_wire_bytes,
		.absorbed = virtual_transit_absorbed(fabric),
		.notes = fabric->notes.sent};
	for (uint32_t at = 0; at < fabric->switches; at++)
		if (fabric->sw[at]->congestion != NULL)
			totals->adapted += fabric->sw[at]->congestion->adapted;
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct virtual_host *host = &fabric->host[i];

		totals->frames += host->nic.frames_received;
		totals->messages += host->nic.messages_received;
		totals->bytes += host->nic.bytes_received;
		for (unsigned k = 0; k < host->sources; k++) {
			totals->generated_messages +=
				traffic_counters(host->source[k])->generated_messages;
			totals->generated_wire_bytes +=
				traffic_generated_wire_bytes(host->source[k]);
		}
	}
}

/* Bytes on the hosts' links as a share of what they carry. */
static double share(const struct virtual_fabric *fabric, double bytes, weft_time time_ps)
{
	const struct topology *topology = fabric->topology;
	double bps = 0;

	for (uint32_t i = 0; i < topology->hosts; i++)
		if (topology->host_link[i] >= 0)
			bps += (double)topology->link_at[topology->host_link[i]].rate_bps;
	return bps > 0 && time_ps > 0 ? 8 * bytes / (bps * ((double)time_ps / (double)PS_PER_S))
				      : 0;
}

void virtual_take_sample(struct virtual_fabric *fabric, weft_time since, weft_time now)
{
	struct run_sample *sample = run_result_add_sample(&fabric->result);
	const struct virtual_totals *before = &fabric->at_sample;
	struct virtual_totals totals;

	if (sample == NULL) {
		fabric->failed = true;
		return;
	}
	virtual_totals_read(fabric, &totals);
	sample->t_ns = now / PS_PER_NS;
	sample->accepted =
		share(fabric, (double)(totals.wire_bytes - before->wire_bytes), now - since);
	if (totals.frames > before->frames)
		sample->latency_ns = (double)(totals.latency_sum_ps - before->latency_sum_ps) /
				     (double)PS_PER_NS / (double)(totals.frames - before->frames);
	sample->itb = totals.absorbed - before->absorbed;
	sample->adapted = totals.adapted - before->adapted;
	sample->arn = totals.notes - before->notes;
	fabric->at_sample = totals;
}

static void add_switches(const struct virtual_fabric *fabric, struct run_result *result)
{
	uint64_t sum[SWITCH_COUNTER_COUNT] = {0};

	for (uint32_t i = 0; i < fabric->switches; i++)
		for (unsigned port = 0; port < fabric->sw[i]->ports; port++)
			for (unsigned k = 0; k < SWITCH_COUNTER_COUNT; k++)
				sum[k] += fabric->sw[i]->port[port].count[k];
	for (unsigned k = 0; k < SWITCH_COUNTER_COUNT; k++)
		run_result_count(result, switch_counter_name(k), sum[k]);
	result->wall.packet_hops += sum[SWITCH_DATA_OUT];
}

static void add_hosts(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		const struct datagram *nic = &fabric->host[i].nic;

		result->packets.injected += nic->frames_sent;
		result->packets.delivered += nic->frames_received;
		result->messages.injected += nic->messages_sent;
		result->messages.delivered += nic->messages_received;
		if (fabric->run->nic.selector->fixed || congestion_setup_is_needed(fabric->run))
			result->out_of_order += nic->out_of_order;
		else
			run_result_count(result, "host_frames_overtaken", nic->out_of_order);
		run_result_count(result, "host_messages_unreachable", nic->unreachable);
	}
}

static void count_congestion_control(void *ctx, const char *name, uint64_t value)
{
	run_result_count(ctx, name, value);
}

/* What was done about congestion, by all switches together. */
static void add_congestion_control(const struct virtual_fabric *fabric, struct run_result *result)
{
	for (uint32_t at = 0; fabric->fecn != NULL && at < fabric->switches; at++)
		run_result_count(result, "packets_marked", fabric->fecn[at].marked);
	if (!run_config_is_adaptive(fabric->run))
		return;
	for (uint32_t at = 0; at < fabric->switches; at++)
		congestion_control_counters(
			fabric->sw[at]->congestion, count_congestion_control, result);
	for (uint32_t i = 0; i < fabric->hosts; i++)
		run_result_count(result, "host_messages_diverted", fabric->host[i].nic.diverted);
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static struct virtual_tx *channel_of(const struct virtual_fabric *fabric, struct topology_port from)
{
	return from.kind == DEVICE_SWITCH ? virtual_switch_channel(fabric, from.device, from.port)
					  : virtual_host_channel(fabric, from.device);
}

/* Until now; of what is being sent or waits, as much as has passed. */
static struct virtual_link_use use_of(
	const struct virtual_fabric *fabric, struct topology_port from)
{
	const struct virtual_tx *channel = channel_of(fabric, from);
	struct virtual_link_use use = {
		.busy_ps = channel->busy_ps - minus(channel->free_at, fabric->now),
		.blocked_ps = virtual_tx_cold(fabric, channel)->blocked_ps,
	};

	if (channel->blocked_since != WEFT_TIME_NEVER)
		use.blocked_ps += fabric->now - channel->blocked_since;
	if (from.kind == DEVICE_SWITCH)
		use.stalls = fabric->sw[from.device]->port[from.port].count[SWITCH_STALL_CREDIT];
	return use;
}

void virtual_links_mark(struct virtual_fabric *fabric)
{
	const struct topology *topology = fabric->topology;

	for (uint32_t i = 0; i < 2 * topology->links; i++) {
		const struct topology_link *wire = &topology->link_at[i / 2];
		struct topology_port from = i % 2 == 0 ? wire->a : wire->b;

		virtual_tx_cold(fabric, channel_of(fabric, from))->warm = use_of(fabric, from);
	}
}

static void measure_link(const void *ctx, struct topology_port from, struct run_link *link)
{
	const struct virtual_fabric *fabric = ctx;
	const struct virtual_link_use *warm =
		&virtual_tx_cold(fabric, channel_of(fabric, from))->warm;
	struct virtual_link_use use = use_of(fabric, from);
	weft_time measured = minus(fabric->now, fabric->measure_from);

	if (measured == 0)
		return;
	link->utilisation = (double)(use.busy_ps - warm->busy_ps) / (double)measured;
	link->blocked = (double)(use.blocked_ps - warm->blocked_ps) / (double)measured;
	link->stalls = use.stalls - warm->stalls;
}

static void fill_figures(const struct virtual_fabric *fabric, struct run_result *result)
{
	weft_time measured = minus(fabric->now, fabric->measure_from);
	const struct virtual_totals *from = &fabric->at_warmup, *to = &fabric->at_end;

	result->offered = share(
		fabric, (double)(to->generated_wire_bytes - from->generated_wire_bytes), measured);
	result->accepted = share(fabric, (double)(to->wire_bytes - from->wire_bytes), measured);
	if (measured > 0 && fabric->switches > 0)
		result->flits_per_ns_per_switch = (double)(to->bytes - from->bytes) /
						  ((double)measured / (double)PS_PER_NS) /
						  (double)fabric->switches;
	result->packets.generated = result->packets.injected;
	result->packets.dropped = fabric->dropped;
	virtual_recovery_result(fabric, result);
	virtual_order_result(fabric, result);
	result->packets.pending = fabric->pool.out;
	result->messages.generated = to->generated_messages;
	result->messages.pending = minus(result->messages.generated, result->messages.delivered);
	/* Who was injected is delivered, under way or was discarded. */
	result->lost =
		minus(result->packets.injected, result->packets.delivered + fabric->pool.out);
	result->duplicated = minus(result->packets.delivered + fabric->pool.out + fabric->dropped,
		result->packets.injected);
}

int virtual_fabric_check_complete(const struct virtual_fabric *fabric, struct fault *fault)
{
	return fabric->replay != NULL ? goal_replay_diagnose(fabric->replay, fault) : 0;
}

int virtual_fabric_result(
	const struct virtual_fabric *fabric, struct run_result *result, struct fault *fault)
{
	run_result_identify(result, fabric->run, fabric->topology);
	add_switches(fabric, result);
	add_hosts(fabric, result);
	add_congestion_control(fabric, result);
	virtual_transit_result(fabric, result);
	if (fabric->replay != NULL)
		run_goal_result(fabric->goal->goal, fabric->replay, result);
	fill_figures(fabric, result);
	result->network_ns = fabric->network_ns;
	result->total_ns = fabric->total_ns;
	result->incomplete = fabric->incomplete;
	result->fingerprint = fabric->fingerprint;
	result->fingerprinted = true;
	run_result_set_wall(result, fabric->wall_seconds);
	if (virtual_deadlock_result(fabric, result) < 0 ||
		run_result_copy_samples(result, &fabric->result) < 0 ||
		(fabric->run->measure.links &&
			run_result_add_links(result, fabric->topology, measure_link, fabric) < 0))
		return fault_set(fault, ENOMEM, "no memory for the result");
	return 0;
}
