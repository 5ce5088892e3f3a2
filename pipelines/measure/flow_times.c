/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "measure_window.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "wire/frame.h"

/* Minimum latency of a header from one switch to all others through an empty network. */
struct search {
	const struct topology *topology;
	weft_time routing_ps; /* routing delay per switch */
	weft_time *time;      /* [switches] */
	uint32_t *queue;      /* ring buffer of switches */
	bool *queued;
	struct arrays arrays;
};

static int search_open(
	struct search *search, const struct run_config *run, const struct topology *topology)
{
	*search = (struct search){.topology = topology, .routing_ps = run->sw.routing_delay_ps};
	ARRAYS_ADD(search, time, topology->switches);
	ARRAYS_ADD(search, queue, topology->switches + 1u);
	ARRAYS_ADD(search, queued, topology->switches);
	return search->arrays.failed ? -ENOMEM : 0;
}

static void relax(struct search *search, uint32_t at, uint32_t *tail)
{
	const struct topology *topology = search->topology;
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;

	for (; port.port < topology->switch_at[at].ports; port.port++) {
		weft_time time;

		if (!topology_peer(topology, port, &peer) || peer.kind != DEVICE_SWITCH)
			continue;
		time = search->time[at] + topology_link_at(topology, port)->delay_ps +
		       search->routing_ps;
		if (time >= search->time[peer.device])
			continue;
		search->time[peer.device] = time;
		if (search->queued[peer.device])
			continue;
		search->queued[peer.device] = true;
		search->queue[*tail] = peer.device;
		*tail = (*tail + 1) % (topology->switches + 1);
	}
}

static void search_from(struct search *search, uint32_t start)
{
	uint32_t head = 0, tail = 1;

	for (uint32_t s = 0; s < search->topology->switches; s++)
		search->time[s] = WEFT_TIME_NEVER;
	search->time[start] = search->routing_ps;
	search->queue[0] = start;
	while (head != tail) {
		uint32_t at = search->queue[head];

		head = (head + 1) % (search->topology->switches + 1);
		search->queued[at] = false;
		relax(search, at, &tail);
	}
}

static const struct topology_link *host_link(const struct topology *topology, uint32_t host)
{
	return topology_link_at(topology, (struct topology_port){DEVICE_HOST, host, 0});
}

/* Returns the time of a flow's frames on the slower of the hosts' links, without source routes. */
static double wire_ns(const struct run_config *run, const struct topology *topology,
	const struct run_flow_request *flow)
{
	uint64_t from = host_link(topology, flow->from)->rate_bps;
	uint64_t to = host_link(topology, flow->to)->rate_bps;
	uint64_t bytes = flow->bytes < RUN_MESSAGE_MIN ? RUN_MESSAGE_MIN : flow->bytes;
	uint64_t frames = (bytes + run->nic.mtu_bytes - 1) / run->nic.mtu_bytes;
	uint64_t overhead = FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD + run_config_extra_bytes(run);

	return (double)(bytes + frames * overhead) * 8e9 / (double)(from < to ? from : to);
}

static double alone_ns(const struct search *search, const struct run_config *run,
	const struct run_flow_request *flow)
{
	struct topology_port to;

	if (flow->from == flow->to)
		return (double)flow->bytes * 8e9 / (double)run->host.copy_rate_bps;
	if (!topology_host_switch(search->topology, flow->to, &to) ||
		search->time[to.device] == WEFT_TIME_NEVER)
		return 0;
	return wire_ns(run, search->topology, flow) +
	       (double)(host_link(search->topology, flow->from)->delay_ps +
			search->time[to.device] + host_link(search->topology, flow->to)->delay_ps) /
		       PS_PER_NS;
}

/* Adds the flows in file order; repeats the search when the sender's switch changes. */
static void add_flows(struct search *search, const struct run_goal *goal,
	struct goal_replay *replay, const struct run_config *run, struct run_result_flow *out)
{
	uint32_t searched = UINT32_MAX;

	for (uint32_t i = 0; i < goal->flows.count; i++) {
		const struct run_flow_request *flow = &goal->flows.at[i];
		const struct goal_replay_times *times = goal_replay_times(replay, flow->op);
		struct topology_port from;

		if (topology_host_switch(search->topology, flow->from, &from) &&
			from.device != searched)
			search_from(search, searched = from.device);
		out[i] = (struct run_result_flow){.from = flow->from,
			.to = flow->to,
			.bytes = flow->bytes,
			.start_ps = times->due_ps,
			.alone_ns = alone_ns(search, run, flow),
			.completion_ps = times->arrived_ps == WEFT_TIME_NEVER
						 ? WEFT_TIME_NEVER
						 : times->arrived_ps - times->due_ps};
	}
}

static int add_ranks(const struct run_goal *goal, const struct goal_replay *replay,
	const struct topology *topology, struct run_result *result)
{
	int error = run_result_ranks_make(result, goal->goal->ranks);

	for (uint32_t i = 0; i < goal->parts && error == 0; i++) {
		const struct run_goal_part *part = &goal->part[i];

		for (uint32_t k = 0; k < part->ranks; k++) {
			uint32_t rank = part->first_rank + k;
			struct goal_replay_end end = goal_replay_end(replay, rank);
			weft_time ended =
				run_result_minus(end.ended_ps, part->start_ps - goal->start_ps);
			struct run_result_rank *to = &result->ranks->at[rank];

			*to = (struct run_result_rank){.number = k,
				.job = part->job,
				.ended = end.ended == goal->goal->rank[rank].count,
				.completion_ns = ps_to_ns(ended)};
			snprintf(to->host, sizeof(to->host), "%s",
				topology->host_at[goal->host_of[rank]].name);
		}
	}
	return error;
}

int schedule_times_result(const struct run_goal *goal, struct goal_replay *replay,
	const struct run_config *run, const struct topology *topology, struct run_result *result)
{
	struct search search;
	int error;

	if (goal->flows.count == 0)
		return add_ranks(goal, replay, topology, result);
	result->flow = calloc(goal->flows.count, sizeof(*result->flow));
	error = search_open(&search, run, topology);
	if (result->flow == NULL)
		error = -ENOMEM;
	if (error == 0) {
		add_flows(&search, goal, replay, run, result->flow);
		result->flows = goal->flows.count;
	}
	arrays_free(&search.arrays);
	return error;
}
