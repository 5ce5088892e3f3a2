/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "goal/goal_replay.h"
#include "run_result.h"
#include "run_result_jobs.h"
#include "run_result_private.h"
#include "wire/frame.h"

#define FIRST_ELEMENTS 64

/* The traffic entries of a result. */

struct run_entry *run_result_add_entry(struct run_result *result)
{
	struct run_entry *more =
		realloc(result->entry, (result->entries + 1u) * sizeof(*result->entry));

	if (more == NULL)
		return NULL;
	result->entry = more;
	more = memset(&more[result->entries++], 0, sizeof(*more));
	more->first_ps = WEFT_TIME_NEVER;
	return more;
}

struct run_flow *run_entry_add_flow(struct run_entry *entry)
{
	struct run_flow *more = entry->flow;

	if (entry->flows % 64 == 0)
		more = realloc(entry->flow, (entry->flows + 64u) * sizeof(*more));
	if (more == NULL)
		return NULL;
	entry->flow = more;
	return memset(&more[entry->flows++], 0, sizeof(*more));
}

bool run_flow_completion(const struct run_flow *flow, uint64_t *ns)
{
	*ns = flow->last_ns;
	return flow->generated > 0 && flow->delivered >= flow->generated;
}

bool run_entry_completion(const struct run_entry *entry, uint64_t *ns)
{
	bool some = false;

	*ns = 0;
	if (!entry->ended)
		return false;
	for (unsigned i = 0; i < entry->flows; i++) {
		uint64_t at;

		if (entry->flow[i].generated == 0)
			continue;
		if (!run_flow_completion(&entry->flow[i], &at))
			return false;
		*ns = at > *ns ? at : *ns;
		some = true;
	}
	return some;
}

static void subtract_traffic(struct run_traffic *traffic, const struct run_traffic *before)
{
	traffic->injected = run_result_minus(traffic->injected, before->injected);
	traffic->delivered = run_result_minus(traffic->delivered, before->delivered);
	traffic->dropped = run_result_minus(traffic->dropped, before->dropped);
	traffic->retransmitted = run_result_minus(traffic->retransmitted, before->retransmitted);
}

/* Returns the number of messages that programs sent, from the counters of their TAPs (add_tap() of
 * the real-clock fabric). */
static uint64_t tap_messages(const struct run_result *result)
{
	static const char *const counters[] = {"tap_messages_out", "tap_drop_unreachable",
		"tap_drop_silent", "tap_drop_too_long", "tap_drop_queue"};
	uint64_t messages = 0;

	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		messages += run_result_counter(result, counters[i]);
	return messages;
}

void run_result_subtract(struct run_result *result, const struct run_result *before)
{
	subtract_traffic(&result->packets, &before->packets);
	subtract_traffic(&result->messages, &before->messages);
	result->packets.generated = result->packets.injected;
	result->messages.generated =
		run_result_minus(result->messages.generated, tap_messages(before));
	result->behind = run_result_minus(result->behind, before->behind);
	result->wall.cut_ends += before->wall.cut_ends;
	run_result_count_pending(result);
	result->lost = run_result_minus(result->lost, before->lost);
	result->duplicated = run_result_minus(result->duplicated, before->duplicated);
	result->out_of_order = run_result_minus(result->out_of_order, before->out_of_order);
	result->wall.packet_hops =
		run_result_minus(result->wall.packet_hops, before->wall.packet_hops);
	if (result->wall.seconds > 0)
		result->wall.packet_hops_per_second =
			(double)result->wall.packet_hops / result->wall.seconds;
	for (unsigned i = 0; i < result->counters; i++)
		result->counter[i].value = run_result_minus(result->counter[i].value,
			run_result_counter(before, result->counter[i].name));
}

/* Doubles the capacity when the array is full, so that copying stays cheap for large arrays. */
void *run_result_grow(void *array, unsigned *count, size_t size)
{
	bool full = *count == 0 || (*count >= FIRST_ELEMENTS && (*count & (*count - 1)) == 0);
	char *elements;

	memcpy(&elements, array, sizeof(elements));
	if (full) {
		elements = realloc(elements,
			(*count == 0 ? (size_t)FIRST_ELEMENTS : 2 * (size_t)*count) * size);
		if (elements == NULL)
			return NULL;
		memcpy(array, &elements, sizeof(elements));
	}
	return memset(elements + (*count)++ * size, 0, size);
}

struct run_sample *run_result_add_sample(struct run_result *result)
{
	return run_result_grow(&result->sample, &result->samples, sizeof(*result->sample));
}

struct run_link *run_result_add_link(struct run_result *result, const struct topology *topology,
	struct topology_port from, struct topology_port to)
{
	struct run_link *link =
		run_result_grow(&result->link, &result->links, sizeof(*result->link));

	if (link == NULL)
		return NULL;
	topology_port_name(topology, from, link->from, sizeof(link->from));
	topology_port_name(topology, to, link->to, sizeof(link->to));
	link->way = topology_way_at(topology, from);
	return link;
}

int run_result_add_cycle(struct run_result *result, const struct topology *topology,
	const struct topology_port *port, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct run_cycle *channel =
			run_result_grow(&result->cycle, &result->cycles, sizeof(*result->cycle));

		if (channel == NULL)
			return -ENOMEM;
		topology_port_name(topology, port[i], channel->from, sizeof(channel->from));
	}
	result->channels = result->cycles;
	return 0;
}

struct run_host *run_result_add_host(struct run_result *result)
{
	return run_result_grow(&result->host, &result->host_count, sizeof(*result->host));
}

int run_result_copy_samples(struct run_result *result, const struct run_result *from)
{
	for (unsigned i = 0; i < from->samples && !run_result_is_stopped(result); i++) {
		struct run_sample *sample = run_result_add_sample(result);

		if (sample == NULL)
			return -ENOMEM;
		*sample = from->sample[i];
	}
	return 0;
}

struct run_switch *run_result_add_switch(struct run_result *result, const char *name)
{
	struct run_switch *sw =
		run_result_grow(&result->sw, &result->switch_count, sizeof(*result->sw));

	if (sw != NULL)
		snprintf(sw->name, sizeof(sw->name), "%s", name);
	return sw;
}

int run_result_add_links(struct run_result *result, const struct topology *topology,
	run_link_fn measure, const void *ctx)
{
	for (uint32_t i = 0; i < 2 * topology->links; i++) {
		const struct topology_link *wire = &topology->link_at[i / 2];
		struct topology_port from = i % 2 == 0 ? wire->a : wire->b;
		struct topology_port to = i % 2 == 0 ? wire->b : wire->a;
		struct run_link *link = run_result_add_link(result, topology, from, to);

		if (link == NULL)
			return -ENOMEM;
		measure(ctx, from, link);
	}
	return 0;
}

static struct run_counter *find_counter(const struct run_result *result, const char *name)
{
	for (unsigned i = 0; i < result->counters; i++)
		if (strcmp(result->counter[i].name, name) == 0)
			return &result->counter[i];
	return NULL;
}

uint64_t run_result_counter(const struct run_result *result, const char *name)
{
	const struct run_counter *counter = find_counter(result, name);

	return counter != NULL ? counter->value : 0;
}

uint64_t run_result_refused(const struct run_result *result)
{
	return run_result_minus(result->messages.dropped,
		result->behind + run_result_counter(result, "tap_drop_queue"));
}

int run_result_count(struct run_result *result, const char *name, uint64_t value)
{
	struct run_counter *counter = find_counter(result, name);

	if (counter == NULL) {
		counter = run_result_grow(&result->counter, &result->counters, sizeof(*counter));
		if (counter == NULL)
			return -ENOMEM;
		snprintf(counter->name, sizeof(counter->name), "%s", name);
	}
	counter->value += value;
	return 0;
}

void run_result_count_pending(struct run_result *result)
{
	struct run_traffic *packets = &result->packets, *messages = &result->messages;

	packets->pending = run_result_minus(packets->injected, packets->delivered);
	messages->pending =
		run_result_minus(messages->generated, messages->delivered + messages->dropped);
}

/* Assumes frames with table routes; source routes make frames longer. */
void run_result_set_buffer(struct run_result *result, const struct run_config *run)
{
	uint64_t blocks = run->sw.buffer_bytes / FRAME_BLOCK_BYTES;

	result->vcs = run_config_vcs(run);
	result->vc_frames = (uint32_t)(blocks / result->vcs /
				       frame_blocks(FRAME_HEADER_BYTES + run->nic.mtu_bytes));
}

void run_result_identify(
	struct run_result *result, const struct run_config *run, const struct topology *topology)
{
	run_result_set_buffer(result, run);
	result->seed = run->seed;
	snprintf(result->topology, sizeof(result->topology), "%s", topology->name);
	result->switches = topology->switches;
	result->hosts = topology->nodes;
	result->host_ports = topology->hosts;
}

void run_result_set_wall(struct run_result *result, double seconds, time_t written)
{
	struct rusage usage;

	result->wall.seconds = seconds;
	result->wall.written = written;
	if (seconds > 0)
		result->wall.packet_hops_per_second = (double)result->wall.packet_hops / seconds;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		result->wall.peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
}

void run_result_heed(struct run_result *result, const atomic_bool *stop)
{
	result->stop =
		stop != NULL && !atomic_load_explicit(stop, memory_order_relaxed) ? stop : NULL;
}

bool run_result_is_stopped(const struct run_result *result)
{
	return result->stop != NULL && atomic_load_explicit(result->stop, memory_order_relaxed);
}

void run_result_free(struct run_result *result)
{
	free(result->sample);
	free(result->link);
	run_link_series_free(&result->link_series);
	free(result->event);
	free(result->flow);
	run_result_ranks_free(result);
	run_result_jobs_free(result);
	free(result->sw);
	free(result->cycle);
	free(result->starved);
	free(result->pool);
	free(result->host);
	for (unsigned i = 0; i < result->entries; i++)
		free(result->entry[i].flow);
	free(result->entry);
	free(result->counter);
	free(result->reason);
	free(result->warning);
	free(result->wall.worker);
	memset(result, 0, sizeof(*result));
}

uint64_t run_result_surplus(const struct run_result *result, const struct run_result *before)
{
	uint64_t left = result->messages.injected;

	if (before != NULL)
		left += run_result_under_way(before);
	return run_result_minus(result->messages.delivered + result->behind, left);
}

void run_goal_result(
	const struct goal *goal, const struct goal_replay *replay, struct run_result *result)
{
	run_result_count(result, "goal_operations", goal->ops - goal->starts);
	run_result_count(result, "goal_unfinished", goal->ops - goal_replay_count(replay));
	run_result_count(result, "goal_completion_ns", ps_to_ns(goal_replay_ended(replay)));
}

uint64_t run_result_under_way(const struct run_result *result)
{
	return run_result_minus(
		result->messages.injected, result->messages.delivered + result->behind);
}
