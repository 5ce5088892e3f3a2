/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_levels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "base/port_set.h"
#include "topology_hosts.h"

#define BLOCK 64 /* switches with hosts that are checked together */

struct levels {
	struct topology *topology;
	struct error *why;
	uint32_t *hosts;  /* number of hosts, by switch */
	uint32_t *level;  /* by switch; 0: not found yet */
	uint32_t *order;  /* switches by level */
	uint64_t *below;  /* by switch: switches of the block that are reachable downwards */
	uint64_t *reach;  /* by switch: switches of the block that are reachable up, then down */
	uint32_t *column; /* switches with hosts */
	uint32_t *part;   /* topology_parts(): each plane is a separate tree */
	uint32_t columns, max_hosts;
	struct arrays arrays;
};

bool topology_has_levels(const struct topology *topology)
{
	for (uint32_t s = 0; s < topology->switches; s++)
		if (topology->switch_at[s].stage != TOPOLOGY_NO_STAGE)
			return true;
	return false;
}

/* Returns the switch at the other end of a port, or -1 if there is none. */
static int64_t neighbour(const struct topology *topology, uint32_t at, unsigned port)
{
	struct topology_port peer;

	if (!topology_peer(
		    topology, (struct topology_port){DEVICE_SWITCH, at, (uint8_t)port}, &peer) ||
		peer.kind != DEVICE_SWITCH)
		return -1;
	return peer.device;
}

static int allocate(struct levels *levels)
{
	const struct topology *topology = levels->topology;
	size_t switches = topology->switches + 1u;
	struct topology_port at;

	ARRAYS_ADD(levels, hosts, switches);
	ARRAYS_ADD(levels, level, switches);
	ARRAYS_ADD(levels, order, switches);
	ARRAYS_ADD(levels, below, switches);
	ARRAYS_ADD(levels, reach, switches);
	ARRAYS_ADD(levels, column, switches);
	levels->part = topology_parts(topology);
	if (levels->arrays.failed || levels->part == NULL)
		return error_set(
			levels->why, ENOMEM, "%s: not enough memory for levels", topology->name);
	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology_host_switch(topology, h, &at))
			levels->hosts[at.device]++;
	for (uint32_t s = 0; s < topology->switches; s++) {
		if (levels->hosts[s] > 0)
			levels->column[levels->columns++] = s;
		if (levels->hosts[s] > levels->max_hosts)
			levels->max_hosts = levels->hosts[s];
	}
	return 0;
}

/* Searches breadth-first from switches with at least 'min_hosts' hosts. Returns the number found.
 */
static uint32_t spread(struct levels *levels, uint32_t min_hosts)
{
	const struct topology *topology = levels->topology;
	uint32_t tail = 0;

	for (uint32_t s = 0; s < topology->switches; s++) {
		levels->level[s] = levels->hosts[s] >= min_hosts;
		if (levels->level[s] != 0)
			levels->order[tail++] = s;
	}
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t at = levels->order[head];

		for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
			int64_t to = neighbour(topology, at, port);

			if (to < 0 || levels->level[to] != 0)
				continue;
			levels->level[to] = levels->level[at] + 1;
			levels->order[tail++] = (uint32_t)to;
		}
	}
	return tail;
}

static int check_links(const struct levels *levels)
{
	const struct topology *topology = levels->topology;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (link->a.kind != link->b.kind ||
			levels->level[link->a.device] != levels->level[link->b.device])
			continue;
		return error_set(levels->why, EINVAL,
			"%s: no levels: the linked switches %s and %s are both on level %u",
			topology->name, topology_device_name(topology, link->a),
			topology_device_name(topology, link->b), levels->level[link->a.device]);
	}
	return 0;
}

/* Adds the switches that the neighbours above (or below) reach. */
static void gather(struct levels *levels, uint32_t at, bool above, uint64_t *into)
{
	const struct topology *topology = levels->topology;
	const uint64_t *from = above ? levels->reach : levels->below;

	for (unsigned port = 0; port < topology->switch_at[at].ports; port++) {
		int64_t to = neighbour(topology, at, port);

		if (to >= 0 && (levels->level[to] > levels->level[at]) == above)
			into[at] |= from[to];
	}
}

static int check_block(struct levels *levels, uint32_t first, uint32_t reached)
{
	const struct topology *topology = levels->topology;
	uint32_t count = levels->columns - first < BLOCK ? levels->columns - first : BLOCK;

	for (uint32_t s = 0; s < topology->switches; s++)
		levels->below[s] = 0;
	for (uint32_t i = 0; i < count; i++)
		levels->below[levels->column[first + i]] = BIT64(i);
	for (uint32_t i = 0; i < reached; i++)
		gather(levels, levels->order[i], false, levels->below);
	for (uint32_t i = reached; i-- > 0;) {
		levels->reach[levels->order[i]] = levels->below[levels->order[i]];
		gather(levels, levels->order[i], true, levels->reach);
	}
	for (uint32_t c = 0; c < levels->columns; c++)
		for (uint32_t i = 0; i < count; i++)
			if ((levels->reach[levels->column[c]] & BIT64(i)) == 0 &&
				(!topology_has_rails(topology) ||
					levels->part[levels->column[c]] ==
						levels->part[levels->column[first + i]]))
				return error_set(levels->why, EINVAL,
					"%s: no levels: no path goes up and then down from switch "
					"%s to %s",
					topology->name, topology->switch_at[levels->column[c]].name,
					topology->switch_at[levels->column[first + i]].name);
	return 0;
}

static int try_leaves(struct levels *levels, uint32_t min_hosts)
{
	const struct topology *topology = levels->topology;
	uint32_t reached = spread(levels, min_hosts);
	int result = check_links(levels);

	for (uint32_t s = 0; s < topology->switches && result == 0; s++)
		if (levels->level[s] == 0 && !topology->switch_at[s].absent)
			result = error_set(levels->why, EINVAL,
				"%s: no levels: no host reaches switch %s", topology->name,
				topology->switch_at[s].name);
	if (result == 0 && (reached == 0 || levels->level[levels->order[reached - 1]] == 1 ||
				   levels->level[levels->order[reached - 1]] > UINT8_MAX))
		result = error_set(levels->why, EINVAL,
			"%s: no levels: a tree must have 2 to %u levels, with hosts on the "
			"lowest",
			topology->name, UINT8_MAX);
	for (uint32_t first = 0; first < levels->columns && result == 0; first += BLOCK)
		result = check_block(levels, first, reached);
	return result;
}

int topology_levels_find(struct topology *topology, struct error *why)
{
	struct levels levels = {.topology = topology, .why = why};
	uint32_t half;
	int result = allocate(&levels);

	half = levels.max_hosts / 2 + levels.max_hosts % 2;
	if (result == 0)
		result = try_leaves(&levels, 1);
	if (result == -EINVAL && half > 1) {
		struct error first = *why;

		result = try_leaves(&levels, half);
		if (result < 0)
			*why = first;
	}
	for (uint32_t s = 0; s < topology->switches && result == 0; s++)
		topology->switch_at[s].stage = (uint8_t)levels.level[s];
	arrays_free(&levels.arrays);
	free(levels.part);
	return result;
}

void topology_levels_describe(
	const struct topology *topology, struct topology_level level[UINT8_MAX], unsigned *count)
{
	struct topology_port peer;

	*count = 0;
	for (unsigned i = 0; i < UINT8_MAX; i++)
		level[i] = (struct topology_level){0};
	for (uint32_t s = 0; s < topology->switches; s++) {
		unsigned stage = topology->switch_at[s].stage, up = 0, down = 0;
		struct topology_level *at;

		if (stage == TOPOLOGY_NO_STAGE)
			continue;
		*count = stage > *count ? stage : *count;
		for (unsigned port = 0; port < topology->switch_at[s].ports; port++) {
			int64_t to = neighbour(topology, s, port);

			up += to >= 0 && topology->switch_at[to].stage > stage;
			down += to >= 0 && topology->switch_at[to].stage < stage;
		}
		at = &level[stage - 1];
		topology_widen(up, at->switches == 0, &at->up_min, &at->up_max);
		topology_widen(down, at->switches == 0, &at->down_min, &at->down_max);
		at->switches++;
	}
	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology_host_switch(topology, h, &peer) &&
			topology->switch_at[peer.device].stage != TOPOLOGY_NO_STAGE)
			level[topology->switch_at[peer.device].stage - 1].hosts++;
}

#define UNREACHED UINT32_MAX

/* Neighbours of switch s: neighbour[first[s]] to neighbour[first[s + 1] - 1], one per link. */
struct graph {
	uint32_t switches;
	uint32_t *first, *neighbour;
	uint32_t *distance, *queue;
	struct arrays arrays;
};

static int graph_allocate(struct graph *graph, const struct topology *topology)
{
	size_t switches = (size_t)topology->switches + 1;

	graph->switches = topology->switches;
	ARRAYS_ADD(graph, first, switches);
	ARRAYS_ADD(graph, neighbour, 2 * (size_t)topology->links + 1);
	ARRAYS_ADD(graph, distance, switches);
	ARRAYS_ADD(graph, queue, switches);
	return graph->arrays.failed ? -ENOMEM : 0;
}

static void graph_fill(struct graph *graph, const struct topology *topology)
{
	struct topology_port peer;
	uint32_t links = 0;

	for (uint32_t s = 0; s < graph->switches; s++) {
		struct topology_port port = {DEVICE_SWITCH, s, 0};

		graph->first[s] = links;
		for (; port.port < topology->switch_at[s].ports; port.port++)
			if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_SWITCH)
				graph->neighbour[links++] = peer.device;
	}
	graph->first[graph->switches] = links;
}

/* Adds the distances from one switch. Returns false if it does not reach all others. */
static bool add_distances(
	struct graph *graph, uint32_t from, struct topology_shape *shape, uint64_t *sum)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < graph->switches; s++)
		graph->distance[s] = UNREACHED;
	graph->distance[from] = 0;
	graph->queue[tail++] = from;
	while (head < tail) {
		uint32_t at = graph->queue[head++], far = graph->distance[at];

		*sum += far;
		shape->diameter = far > shape->diameter ? far : shape->diameter;
		for (uint32_t i = graph->first[at]; i < graph->first[at + 1]; i++)
			if (graph->distance[graph->neighbour[i]] == UNREACHED) {
				graph->distance[graph->neighbour[i]] = far + 1;
				graph->queue[tail++] = graph->neighbour[i];
			}
	}
	return tail == graph->switches;
}

static void measure_distances(struct graph *graph, struct topology_shape *shape)
{
	uint64_t sum = 0, pairs = (uint64_t)graph->switches * (graph->switches - 1);

	if (graph->switches < 2 || graph->switches > TOPOLOGY_SHAPE_SWITCHES_MAX)
		return;
	for (uint32_t s = 0; s < graph->switches; s++)
		if (!add_distances(graph, s, shape, &sum))
			return;
	shape->distances_known = true;
	shape->mean_distance = (double)sum / (double)pairs;
}

/* Uses 'distance' as scratch space for the number of hosts of each switch. */
static void measure_degrees(
	struct graph *graph, const struct topology *topology, struct topology_shape *shape)
{
	struct topology_port peer;

	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology_host_switch(topology, h, &peer))
			graph->distance[peer.device]++;
	for (uint32_t s = 0; s < graph->switches; s++) {
		topology_widen(graph->first[s + 1] - graph->first[s], s == 0, &shape->degree_min,
			&shape->degree_max);
		topology_widen(graph->distance[s], s == 0, &shape->hosts_min, &shape->hosts_max);
	}
}

int topology_shape(const struct topology *topology, struct topology_shape *shape)
{
	struct graph graph = {0};
	int result = graph_allocate(&graph, topology);

	*shape = (struct topology_shape){0};
	if (result == 0) {
		graph_fill(&graph, topology);
		measure_degrees(&graph, topology, shape);
		measure_distances(&graph, shape);
	}
	arrays_free(&graph.arrays);
	return result;
}
