/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "real_fabric_entries.h"

#include <string.h>

#include "real_fabric_result.h"

int real_host_set_entries(const struct real_fabric *fabric, struct real_host *host)
{
	const struct measure_window *window = &fabric->window;
	bool flows[RUN_TRAFFIC_MAX] = {false};

	for (unsigned i = 0; i < window->entries; i++)
		flows[i] = window->entry[i].flow != NULL;
	return measure_sink_set_entries(host->poll->sink, window->entries, flows);
}

static void read_sources(struct real_fabric *fabric, const struct poll_nic *poll, uint64_t overhead)
{
	for (unsigned i = 0; i < poll->sources; i++) {
		const struct traffic_config *config = traffic_config(poll->source[i]);
		const struct traffic_counters *count = traffic_counters(poll->source[i]);
		struct measure_entry *entry = &fabric->window.entry[config->entry];

		entry->now.generated_messages += count->generated_messages;
		entry->now.generated_wire_bytes +=
			count->generated_bytes +
			traffic_generated_frames(poll->source[i]) * overhead;
		/* Of several lanes one counts for all. */
		if (entry->flow != NULL && config->lane == 0)
			entry->flow[config->host].generated = count->generated_messages;
	}
}

static void read_goal(struct real_fabric *fabric, const struct real_host *host, uint64_t overhead)
{
	const struct poll_nic_goal *goal = &host->poll->goal;
	struct measure_entry *entry;

	if (fabric->goal == NULL)
		return;
	entry = &fabric->window.entry[fabric->goal->entry];
	entry->now.generated_messages += goal->messages;
	entry->now.generated_wire_bytes += goal->bytes + goal->frames * overhead;
	entry->flow[host->number].generated = goal->messages;
}

static void read_flows(const struct real_fabric *fabric, const struct measure_sink_entry *from,
	struct measure_flow *flow)
{
	for (uint32_t host = 0; host < fabric->options.topology->hosts; host++) {
		weft_time last = run_result_minus(from->flow[host].last_ps, fabric->traffic_from);

		flow[host].delivered += from->flow[host].messages;
		flow[host].last_ps = last > flow[host].last_ps ? last : flow[host].last_ps;
	}
}

static void read_sink(
	struct real_fabric *fabric, const struct measure_sink *sink, uint64_t overhead)
{
	for (unsigned i = 0; i < sink->entries; i++) {
		const struct measure_sink_entry *from = &sink->entry[i];
		struct measure_entry *entry = &fabric->window.entry[i];

		entry->now.messages += from->messages;
		entry->now.wire_bytes += from->bytes + from->frames * overhead;
		entry->now.timed += from->total_ns.count;
		entry->now.latency_sum_ns += from->total_ns.sum;
		if (from->flow != NULL)
			read_flows(fabric, from, entry->flow);
	}
}

void real_entries_read(struct real_fabric *fabric, bool fresh)
{
	struct measure_window *window = &fabric->window;
	uint64_t overhead = real_frame_overhead(fabric);

	for (unsigned i = 0; i < window->entries; i++) {
		window->entry[i].now = (struct measure_entry_totals){0};
		if (window->entry[i].flow != NULL)
			memset(window->entry[i].flow, 0,
				fabric->options.topology->hosts * sizeof(*window->entry[i].flow));
	}
	for (unsigned i = 0; i < fabric->host_count && !fresh; i++) {
		read_sources(fabric, fabric->hosts[i].poll, overhead);
		read_goal(fabric, &fabric->hosts[i], overhead);
		read_sink(fabric, fabric->hosts[i].poll->sink, overhead);
	}
}

void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result)
{
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const struct measure_sink *sink = fabric->hosts[i].poll->sink;

		for (unsigned k = 0; k < sink->entries && k < result->entries; k++) {
			const struct measure_sink_entry *from = &sink->entry[k];

			/* A histogram that nothing was recorded in may have no memory yet. */
			if (from->network_ns.count > 0)
				histogram_merge(&result->entry[k].network_ns, &from->network_ns);
			if (from->total_ns.count > 0)
				histogram_merge(&result->entry[k].total_ns, &from->total_ns);
		}
	}
}
