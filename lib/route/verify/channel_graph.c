/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "channel_graph.h"

#include <stdlib.h>
#include <string.h>

static void note_out(struct channel_graph *graph, uint32_t channel)
{
	struct topology_port from = graph->from[channel];

	if (from.kind == DEVICE_SWITCH)
		graph->switch_out[from.device * graph->ports + from.port] = channel;
	else
		graph->host_out[from.device] = channel;
}

static int graph_allocate(struct channel_graph *graph)
{
	size_t ports = (size_t)graph->topology->switches * graph->ports;

	ARRAYS_ADD(graph, from, graph->channels + 1u);
	ARRAYS_ADD(graph, to, graph->channels + 1u);
	ARRAYS_ADD(graph, dependencies,
		(size_t)graph->channels * graph->classes * graph->turns * graph->words + 1u);
	ARRAYS_ADD(graph, switch_out, ports);
	ARRAYS_ADD(graph, host_out, graph->topology->hosts);
	if (graph->arrays.failed)
		return -ENOMEM;
	memset(graph->switch_out, 0xFF, ports * sizeof(*graph->switch_out));
	memset(graph->host_out, 0xFF, graph->topology->hosts * sizeof(*graph->host_out));
	return 0;
}

struct channel_graph *channel_graph_create(
	const struct topology *topology, const struct vc_rule *rule)
{
	struct channel_graph *graph = calloc(1, sizeof(*graph));

	if (graph == NULL)
		return NULL;
	graph->topology = topology;
	graph->rule = rule;
	graph->ports = topology_max_ports(topology);
	graph->words = topology_port_words(topology);
	graph->channels = 2 * topology->links;
	graph->classes = rule == NULL ? 1 : rule->classes;
	graph->turns = rule == NULL || rule->steps == VC_STEPS_NONE ? 1
		       : rule->steps == VC_STEPS_LAYERS             ? VC_RULE_CLASSES_MAX
								    : VC_TURNS;
	if (graph_allocate(graph) < 0) {
		channel_graph_destroy(graph);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t i = 0; i < topology->links; i++) {
		graph->from[2 * i] = graph->to[2 * i + 1] = topology->link_at[i].a;
		graph->to[2 * i] = graph->from[2 * i + 1] = topology->link_at[i].b;
		note_out(graph, 2 * i);
		note_out(graph, 2 * i + 1);
	}
	return graph;
}

void channel_graph_destroy(struct channel_graph *graph)
{
	ARRAYS_DESTROY(graph);
}

static uint32_t count_nodes(const struct channel_graph *graph)
{
	return graph->channels * graph->classes;
}

/* Tarjan's algorithm (1972) with an explicit path instead of recursion. Each node of the path has a
 * set of successors still to visit. */
struct components {
	const struct channel_graph *graph;
	uint32_t *number; /* order of the first visit, from 1; 0: not visited */
	uint32_t *low;    /* smallest number known to be reachable */
	uint64_t *left;   /* by node, turn and word: unvisited successors, as ports */
	uint32_t *path;   /* nodes being visited */
	uint32_t *stack;  /* visited nodes whose component is not complete */
	bool *stacked;
	uint32_t visited, depth, height;
	struct arrays arrays; /* owns all arrays above */
};

static int components_allocate(struct components *work)
{
	size_t nodes = count_nodes(work->graph);

	ARRAYS_ADD(work, number, nodes);
	ARRAYS_ADD(work, low, nodes);
	ARRAYS_ADD(work, left, nodes * work->graph->turns * work->graph->words);
	ARRAYS_ADD(work, path, nodes);
	ARRAYS_ADD(work, stack, nodes);
	ARRAYS_ADD(work, stacked, nodes);
	return work->arrays.failed ? -ENOMEM : 0;
}

static void enter(struct components *work, uint32_t node)
{
	const uint32_t words = work->graph->turns * work->graph->words;

	work->number[node] = work->low[node] = ++work->visited;
	memcpy(work->left + (size_t)node * words, work->graph->dependencies + (size_t)node * words,
		words * sizeof(*work->left));
	work->path[work->depth++] = node;
	work->stack[work->height++] = node;
	work->stacked[node] = true;
}

static void lower(struct components *work, uint32_t node, uint32_t low)
{
	if (low < work->low[node])
		work->low[node] = low;
}

/* Leaves the last node of the path. Returns true if its component is complete and has more than one
 * node: all nodes from this node's number on that are still in 'stacked'. */
static bool leave(struct components *work)
{
	uint32_t node = work->path[--work->depth];

	if (work->depth > 0)
		lower(work, work->path[work->depth - 1], work->low[node]);
	if (work->low[node] != work->number[node])
		return false;
	if (work->stack[work->height - 1] != node)
		return true;
	work->stacked[work->stack[--work->height]] = false;
	return false;
}

/* Removes and returns the next unvisited successor; CHANNEL_NONE if there is none. */
static uint32_t take_successor(struct components *work, uint32_t node)
{
	const uint32_t each = work->graph->words, words = work->graph->turns * each;

	for (unsigned word = 0; word < words; word++) {
		uint64_t *left = &work->left[(size_t)node * words + word];
		unsigned port;

		if (*left == 0)
			continue;
		port = 64 * (word % each) + (unsigned)__builtin_ctzll(*left);
		*left &= *left - 1;
		return channel_graph_follow(work->graph, node, port, word / each);
	}
	return CHANNEL_NONE;
}

/* Visits everything reachable from 'start'. Returns a node on a cycle, or CHANNEL_NONE. */
static uint32_t visit_from(struct components *work, uint32_t start)
{
	enter(work, start);
	while (work->depth > 0) {
		uint32_t node = work->path[work->depth - 1];
		uint32_t next = take_successor(work, node);

		if (next == CHANNEL_NONE) {
			if (leave(work))
				return node;
			continue;
		}
		if (next == node)
			return node;
		if (work->number[next] == 0)
			enter(work, next);
		else if (work->stacked[next])
			lower(work, node, work->number[next]);
	}
	return CHANNEL_NONE;
}

static uint32_t node_on_cycle(const struct channel_graph *graph, struct components *work)
{
	for (uint32_t start = 0; start < count_nodes(graph); start++) {
		uint32_t found;

		if (work->number[start] != 0)
			continue;
		found = visit_from(work, start);
		if (found != CHANNEL_NONE)
			return found;
	}
	return CHANNEL_NONE;
}

/* A breadth-first search for a path back to 'start'. 'before' is the predecessor of each visited
 * node; 'queue' lists the visited nodes in order. */
struct round_trip {
	const struct channel_graph *graph;
	uint32_t start, tail;
	uint32_t *before, *queue;
};

/* Adds the successors of a node for one turn. Returns true if 'start' is one of them. */
static bool spread(struct round_trip *trip, uint32_t node, enum vc_turn turn)
{
	const uint64_t *set = channel_graph_ports(trip->graph, node, turn);

	CHANNEL_GRAPH_EACH(trip->graph, set, port) {
		uint32_t next = channel_graph_follow(trip->graph, node, port, turn);

		if (trip->before[next] != CHANNEL_NONE)
			continue;
		trip->before[next] = node;
		if (next == trip->start)
			return true;
		trip->queue[trip->tail++] = next;
	}
	return false;
}

/* Returns the last node of the shortest cycle through 'start', whose nodes are linked by 'before'.
 * 'queue' is scratch space. */
static uint32_t shortest_cycle(
	const struct channel_graph *graph, uint32_t start, uint32_t *before, uint32_t *queue)
{
	struct round_trip trip = {graph, start, 0, before, queue};

	memset(before, 0xFF, count_nodes(graph) * sizeof(*before));
	queue[trip.tail++] = start;
	for (uint32_t head = 0; head < trip.tail; head++)
		for (unsigned turn = 0; turn < graph->turns; turn++)
			if (spread(&trip, queue[head], turn))
				return queue[head];
	return CHANNEL_NONE;
}

static int write_cycle(
	uint32_t start, uint32_t last, const uint32_t *before, uint32_t **cycle, uint32_t *length)
{
	uint32_t nodes = 1;

	for (uint32_t at = last; at != start; at = before[at])
		nodes++;
	*cycle = calloc(nodes, sizeof(**cycle));
	if (*cycle == NULL)
		return -ENOMEM;
	*length = nodes;
	for (uint32_t at = last; nodes-- > 0; at = before[at])
		(*cycle)[nodes] = at;
	return 0;
}

int channel_graph_find_cycle(const struct channel_graph *graph, uint32_t **cycle, uint32_t *length)
{
	struct components work = {.graph = graph};
	int result = components_allocate(&work);
	uint32_t start;

	*cycle = NULL;
	*length = 0;
	if (result < 0)
		goto out;
	start = node_on_cycle(graph, &work);
	if (start != CHANNEL_NONE) {
		uint32_t last = shortest_cycle(graph, start, work.path, work.stack);

		result = write_cycle(start, last, work.path, cycle, length);
	}
out:
	arrays_free(&work.arrays);
	return result;
}
