/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "real_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Flows per cache line. Rows are whole lines, so that two loops never write to the same line. */
#define LINE_FLOWS (64 / sizeof(struct measure_sink_flow))

static size_t row_flows(const struct real_fabric *fabric)
{
	size_t hosts = real_hosts_max(fabric);

	return (hosts + LINE_FLOWS - 1) / LINE_FLOWS * LINE_FLOWS;
}

static size_t loop_flows(const struct real_fabric *fabric, const struct real_traffic *work)
{
	size_t finite = 0;

	for (unsigned i = 0; i < work->window.entries; i++)
		finite += work->window.entry[i].flow != NULL;
	return finite * row_flows(fabric);
}

/* Lists the loop's row for each entry; NULL: the entry has no end. */
static void list_rows(const struct real_fabric *fabric, unsigned loop,
	struct measure_sink_flow *row[RUN_TRAFFIC_MAX])
{
	struct measure_sink_flow *next =
		fabric->work->flows + loop * loop_flows(fabric, fabric->work);

	for (unsigned i = 0; i < fabric->work->window.entries; i++) {
		row[i] = NULL;
		if (fabric->work->window.entry[i].flow == NULL)
			continue;
		row[i] = next;
		next += row_flows(fabric);
	}
}

int real_flows_create(const struct real_fabric *fabric, struct real_traffic *work)
{
	size_t bytes = fabric->loops * loop_flows(fabric, work) * sizeof(*work->flows);

	work->flows = aligned_alloc(64, bytes + 64);
	if (work->flows == NULL)
		return -ENOMEM;
	memset(work->flows, 0, bytes);
	return 0;
}

int real_entries_create(struct real_fabric *fabric)
{
	struct measure_sink_flow *row[RUN_TRAFFIC_MAX];
	int result = real_flows_create(fabric, fabric->work);

	for (unsigned loop = 0; loop < fabric->loops && result == 0; loop++) {
		list_rows(fabric, loop, row);
		for (unsigned i = real_share(fabric, loop, fabric->host_count);
			i < real_share(fabric, loop + 1, fabric->host_count) && result == 0; i++)
			result = measure_sink_set_entries(
				fabric->hosts[i].poll->sink, fabric->work->window.entries, row);
	}
	return result;
}

void real_flows_begin(struct real_fabric *fabric, unsigned loop)
{
	size_t flows = loop_flows(fabric, fabric->work);
	struct measure_sink_flow *row[RUN_TRAFFIC_MAX];

	memset(fabric->work->flows + loop * flows, 0, flows * sizeof(*fabric->work->flows));
	list_rows(fabric, loop, row);
	for (unsigned i = real_share(fabric, loop, fabric->host_count);
		i < real_share(fabric, loop + 1, fabric->host_count); i++)
		measure_sink_set_flows(fabric->hosts[i].poll->sink, row);
}

static void read_sources(struct real_fabric *fabric, const struct poll_nic *poll, uint64_t overhead)
{
	for (unsigned i = 0; i < poll->sources; i++) {
		const struct traffic_config *config = traffic_config(poll->source[i]);
		const struct traffic_counters *count = traffic_counters(poll->source[i]);
		struct measure_entry *entry = &fabric->work->window.entry[config->entry];

		if (count->generated_messages == 0)
			measure_window_source(
				&fabric->work->window, poll->source[i], fabric->traffic_from);
		entry->now.generated_messages += count->generated_messages;
		entry->now.generated_wire_bytes +=
			count->generated_bytes +
			traffic_generated_frames(poll->source[i]) * overhead;
	}
}

static void read_goal(struct real_fabric *fabric, const struct real_host *host, uint64_t overhead)
{
	const struct poll_nic_goal *goal = &host->poll->goal;
	struct measure_entry *entry;

	if (fabric->goal == NULL)
		return;
	entry = &fabric->work->window.entry[fabric->goal->entry_of[host->number]];
	entry->now.generated_messages += goal->messages;
	entry->now.generated_wire_bytes += goal->bytes + goal->frames * overhead;
}

static void read_sink(
	struct real_fabric *fabric, const struct measure_sink *sink, uint64_t overhead)
{
	for (unsigned i = 0; i < sink->entries; i++) {
		const struct measure_sink_entry *from = &sink->entry[i];
		struct measure_entry *entry = &fabric->work->window.entry[i];

		entry->now.messages += from->messages;
		/* A frame's entry is unknown until the frame is released. */
		entry->now.wire_bytes += from->bytes + from->frames * overhead;
		entry->now.released_wire_bytes += from->bytes + from->frames * overhead;
		entry->now.timed += from->total_ns.count;
		entry->now.latency_sum_ns += from->total_ns.sum;
	}
}

void real_entries_read(struct real_fabric *fabric, bool fresh)
{
	struct measure_window *window = &fabric->work->window;
	uint64_t overhead = real_frame_overhead(fabric);

	for (unsigned i = 0; i < window->entries; i++)
		window->entry[i].now = (struct measure_entry_totals){0};
	for (unsigned i = 0; i < fabric->host_count && !fresh; i++) {
		read_sources(fabric, fabric->hosts[i].poll, overhead);
		read_goal(fabric, &fabric->hosts[i], overhead);
		read_sink(fabric, fabric->hosts[i].poll->sink, overhead);
	}
}

static void add_arrivals(const struct real_fabric *fabric, const struct measure_sink_flow *from,
	struct measure_flow *flow)
{
	for (uint32_t host = 0; from != NULL && host < fabric->work->window.topology->hosts;
		host++) {
		weft_time last = run_result_minus(from[host].last_ps, fabric->traffic_from);

		flow[host].delivered += from[host].messages;
		flow[host].last_ps = last > flow[host].last_ps ? last : flow[host].last_ps;
	}
}

static void add_generated(struct real_fabric *fabric, const struct real_host *host)
{
	const struct poll_nic *poll = host->poll;

	for (unsigned i = 0; i < poll->sources; i++) {
		const struct traffic_config *config = traffic_config(poll->source[i]);
		struct measure_flow *flow = fabric->work->window.entry[config->entry].flow;

		/* With several lanes, the first one counts on behalf of all. */
		if (flow != NULL && config->lane == 0)
			flow[traffic_port(config)].generated =
				traffic_counters(poll->source[i])->generated_messages;
	}
	if (fabric->goal != NULL && fabric->goal->rank_of[host->number] != RUN_GOAL_NO_RANK)
		fabric->work->window.entry[poll->goal.entry].flow[host->number].generated =
			poll->goal.messages;
}

void real_flows_read(struct real_fabric *fabric)
{
	struct measure_window *window = &fabric->work->window;
	struct measure_sink_flow *row[RUN_TRAFFIC_MAX];

	for (unsigned i = 0; i < window->entries; i++)
		if (window->entry[i].flow != NULL)
			memset(window->entry[i].flow, 0,
				window->topology->hosts * sizeof(*window->entry[i].flow));
	for (unsigned loop = 0; loop < fabric->loops; loop++) {
		list_rows(fabric, loop, row);
		for (unsigned i = 0; i < window->entries; i++)
			add_arrivals(fabric, row[i], window->entry[i].flow);
	}
	for (unsigned i = 0; i < fabric->host_count; i++)
		add_generated(fabric, &fabric->hosts[i]);
}

void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result)
{
	for (unsigned i = 0; i < fabric->host_count; i++) {
		const struct measure_sink *sink = fabric->hosts[i].poll->sink;

		for (unsigned k = 0; k < sink->entries && k < result->entries; k++) {
			const struct measure_sink_entry *from = &sink->entry[k];

			/* A histogram without values may not have memory. */
			if (from->network_ns.count > 0)
				histogram_merge(&result->entry[k].network_ns, &from->network_ns);
			if (from->total_ns.count > 0)
				histogram_merge(&result->entry[k].total_ns, &from->total_ns);
		}
	}
}
