/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic_pattern.h"

double measure_capacity(
	const struct measure_window *window, const struct topology *topology, uint32_t host)
{
	int32_t link = topology->host_link[host];

	if (link < 0)
		return 0;
	/* A window of cycles counts bytes. */
	return window->second == 1 ? 1 : (double)topology->link_at[link].rate_bps;
}

double measure_share(
	const struct measure_window *window, double capacity, uint64_t bytes, weft_time time_ps)
{
	double carried = capacity * ((double)time_ps / window->second);

	return carried > 0 ? window->unit * (double)bytes / carried : 0;
}

static int add_entry(struct measure_window *window, unsigned which, const struct run_hosts *traffic,
	const struct run_goal *goal)
{
	const struct run_config_traffic *config = &window->run->traffic.at[which];
	struct measure_entry *entry = &window->entry[which];

	entry->sender = traffic->entry[which].from;
	entry->senders = traffic->entry[which].from_count;
	if (config->pattern->schedule && goal != NULL) {
		entry->sender = goal->host_of;
		entry->senders = goal->goal->ranks;
	}
	entry->start_ps = config->start_ps;
	entry->first_ps = WEFT_TIME_NEVER;
	for (uint32_t i = 0; i < entry->senders; i++)
		entry->capacity += measure_capacity(window, window->topology, entry->sender[i]);
	if (!config->pattern->schedule && config->stop_ps == WEFT_TIME_NEVER)
		return 0;
	entry->flow = calloc((size_t)window->topology->hosts + 1, sizeof(*entry->flow));
	return entry->flow == NULL ? -ENOMEM : 0;
}

int measure_window_add_entries(struct measure_window *window, const struct topology *topology,
	const struct run_config *run, const struct run_hosts *traffic, const struct run_goal *goal)
{
	int result = 0;

	window->run = run;
	window->topology = topology;
	window->entry = calloc((size_t)traffic->entries + 1, sizeof(*window->entry));
	if (window->entry == NULL)
		return -ENOMEM;
	window->entries = traffic->entries;
	for (unsigned i = 0; i < window->entries && result == 0; i++)
		result = add_entry(window, i, traffic, goal);
	return result;
}

void measure_window_source(
	struct measure_window *window, const struct traffic *source, weft_time from_ps)
{
	struct measure_entry *entry = &window->entry[traffic_config(source)->entry];
	weft_time next = traffic_next(source);

	if (next != WEFT_TIME_NEVER && run_result_minus(next, from_ps) < entry->first_ps)
		entry->first_ps = run_result_minus(next, from_ps);
}

void measure_entries_free(struct measure_window *window)
{
	for (unsigned i = 0; i < window->entries; i++)
		free(window->entry[i].flow);
	free(window->entry);
	window->entry = NULL;
	window->entries = 0;
}

/* It sends in all of the measured time. The messages of a schedule wait for others. */
static bool is_continuous(
	const struct measure_window *window, const struct run_config_traffic *config)
{
	return !config->pattern->schedule && config->start_ps <= window->from.at_ps &&
	       config->stop_ps >= window->to.at_ps;
}

static int add_flows(const struct measure_window *window, const struct measure_entry *from,
	struct run_entry *entry)
{
	entry->finite = from->flow != NULL;
	for (uint32_t i = 0; entry->finite && i < from->senders; i++) {
		const struct measure_flow *flow = &from->flow[from->sender[i]];
		struct run_flow *added = run_entry_add_flow(entry);

		if (added == NULL)
			return -ENOMEM;
		snprintf(added->from, sizeof(added->from), "%s",
			window->topology->host_at[from->sender[i]].name);
		added->generated = flow->generated;
		added->delivered = flow->delivered;
		added->last_ns = ps_to_ns(run_result_minus(flow->last_ps, from->start_ps));
	}
	return 0;
}

static int add_result(
	const struct measure_window *window, unsigned which, struct run_result *result)
{
	const struct measure_entry *from = &window->entry[which];
	weft_time time_ps = run_result_minus(window->to.at_ps, window->from.at_ps);
	struct run_entry *entry = run_result_add_entry(result);

	if (entry == NULL)
		return -ENOMEM;
	snprintf(entry->pattern, sizeof(entry->pattern), "%s",
		window->run->traffic.at[which].pattern->name);
	entry->senders = from->senders;
	entry->generated = from->now.generated_messages;
	entry->delivered = from->now.messages;
	entry->offered = measure_share(window, from->capacity,
		run_result_minus(from->to.generated_wire_bytes, from->from.generated_wire_bytes),
		time_ps);
	entry->accepted = measure_share(window, from->capacity,
		run_result_minus(from->to.wire_bytes, from->from.wire_bytes), time_ps);
	entry->released = measure_share(window, from->capacity,
		run_result_minus(from->to.released_wire_bytes, from->from.released_wire_bytes),
		time_ps);
	entry->first_ps = from->first_ps;
	entry->continuous = is_continuous(window, &window->run->traffic.at[which]);
	memcpy(entry->batch, from->batch, sizeof(entry->batch));
	/* A schedule has generated only what its operations have reached. */
	if (window->run->traffic.at[which].pattern->schedule)
		entry->ended = run_result_counter(result, "goal_unfinished") == 0;
	else
		entry->ended = window->run->traffic.at[which].stop_ps <= window->to.at_ps;
	return add_flows(window, from, entry);
}

int measure_entries_result(const struct measure_window *window, struct run_result *result)
{
	int code = 0;

	for (unsigned i = 0; i < window->entries && code == 0; i++)
		code = add_result(window, i, result);
	return code;
}
