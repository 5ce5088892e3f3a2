/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "transition_check.h"

#include <stdlib.h>

#include "route/verify/channel_graph.h"
#include "wire/frame.h"

struct mixture {
	const struct live_generation *generation;
	unsigned generations;
	struct topology *cables; /* cables of all generations */
	struct channel_graph *channels;
	uint32_t *visited; /* [node] destination + 1 of the last walk that visited it */
	uint32_t *queue;
	struct arrays arrays;
};

/* Returns -EBUSY if a port in 'cables' leads elsewhere in this generation. */
static int add_cables(struct topology *cables, const struct topology *from, struct error *reason)
{
	for (uint32_t i = 0; i < from->links; i++) {
		const struct topology_link *link = &from->link_at[i];
		struct topology_port a, b;
		bool has_a = topology_peer(cables, link->a, &a);
		bool has_b = topology_peer(cables, link->b, &b);
		int result;

		if (!has_a && !has_b) {
			result = topology_add_link(cables, link->a, link->b, 0, WEFT_TIME_NEVER, 0);
			if (result < 0)
				return result;
			continue;
		}
		if (!has_a || a.kind != link->b.kind || a.device != link->b.device ||
			a.port != link->b.port) {
			char name[TOPOLOGY_NAME_MAX + 8];

			topology_port_name(from, link->a, name, sizeof(name));
			error_set(reason, EBUSY, "the cable at %s now leads elsewhere", name);
			return -EBUSY;
		}
	}
	return 0;
}

static void free_ports(struct topology *cables)
{
	for (uint32_t i = 0; i < cables->switches; i++)
		cables->switch_at[i].ports = TOPOLOGY_PORTS_RUN;
	for (uint32_t i = 0; i < cables->hosts; i++)
		cables->host_at[i].cut_off = true;
}

/* Completes the merged topology. A host counts as cut off only if no generation has its cable. */
static int finish_cables(struct topology *cables)
{
	for (uint32_t i = 0; i < cables->links; i++) {
		const struct topology_link *link = &cables->link_at[i];

		if (link->a.kind == DEVICE_HOST)
			cables->host_at[link->a.device].cut_off = false;
		if (link->b.kind == DEVICE_HOST)
			cables->host_at[link->b.device].cut_off = false;
	}
	return topology_finish(cables, "mixture", NULL) < 0 ? -ENOMEM : 0;
}

static int merge_cables(struct mixture *mixture, struct error *reason)
{
	uint32_t switches = 0, hosts = 0;
	int result = 0;

	for (unsigned i = 0; i < mixture->generations; i++) {
		const struct topology *topology = mixture->generation[i].topology;

		switches = topology->switches > switches ? topology->switches : switches;
		hosts = topology->hosts > hosts ? topology->hosts : hosts;
	}
	mixture->cables = topology_create("mixture", switches, hosts);
	if (mixture->cables == NULL)
		return -ENOMEM;
	free_ports(mixture->cables);
	for (unsigned i = 0; i < mixture->generations && result == 0; i++) {
		/* The port index shows which cables already exist. */
		result = finish_cables(mixture->cables);
		if (result == 0)
			result = add_cables(
				mixture->cables, mixture->generation[i].topology, reason);
	}
	return result < 0 ? result : finish_cables(mixture->cables);
}

static const struct vc_rule *rule_of(const struct live_generation *generation)
{
	if (generation->table != NULL && generation->table->vc_rule != NULL)
		return generation->table->vc_rule;
	return generation->set == NULL ? NULL : route_set_vc_rule(generation->set);
}

static int check_rules(const struct mixture *mixture, struct error *reason)
{
	const struct vc_rule *first = rule_of(&mixture->generation[0]);

	for (unsigned i = 1; i < mixture->generations; i++) {
		const struct vc_rule *other = rule_of(&mixture->generation[i]);

		if ((first == NULL) != (other == NULL) ||
			(first != NULL && !vc_rule_equal(first, other)))
			return error_set(reason, EBUSY, "the VC rules differ");
	}
	return 0;
}

/* Returns the node of a packet that has left host 'host'; CHANNEL_NONE if it is cut off. */
static uint32_t first_node(const struct mixture *mixture, uint32_t host)
{
	uint32_t out =
		host < mixture->cables->hosts ? mixture->channels->host_out[host] : CHANNEL_NONE;

	return out == CHANNEL_NONE ? out : channel_graph_node(mixture->channels, out, 0);
}

static enum vc_turn turn_at(const uint8_t *element, unsigned length, unsigned i)
{
	if (i > 0 && vc_turn_of(element[i - 1]) != VC_GO_ON)
		return vc_turn_of(element[i - 1]);
	return i + 1 < length && element[i + 1] == ROUTE_TYPE_STEP ? VC_STEP_AHEAD : VC_GO_ON;
}

/* Adds the dependencies of a route. An in-transit buffer ends a chain of dependencies. */
static void add_route(
	struct mixture *mixture, uint32_t source, const uint8_t *element, unsigned length)
{
	struct channel_graph *graph = mixture->channels;
	uint32_t node = first_node(mixture, source);

	for (unsigned i = 0; i < length && node != CHANNEL_NONE; i++) {
		struct topology_port at = graph->to[channel_graph_channel(graph, node)];
		unsigned port = element[i] & ROUTE_PORT_MASK;
		enum vc_turn turn = turn_at(element, length, i);

		if (vc_turn_of(element[i]) != VC_GO_ON && at.kind == DEVICE_SWITCH)
			continue;
		if ((element[i] & ROUTE_PORT_BIT) == 0) {
			if (at.kind != DEVICE_HOST || element[i] != ROUTE_TYPE_ITB)
				return;
			node = first_node(mixture, at.device);
			continue;
		}
		if (at.kind != DEVICE_SWITCH ||
			channel_graph_out(graph, at.device, port) == CHANNEL_NONE)
			return;
		channel_graph_depend(graph, node, port, turn);
		node = channel_graph_follow(graph, node, port, turn);
	}
}

static void add_routes(struct mixture *mixture, const struct route_set *set)
{
	uint32_t hosts = route_set_hosts(set);

	for (uint32_t to = 0; to < hosts; to++)
		for (uint32_t from = 0; from < hosts; from++) {
			unsigned count = from == to ? 0 : route_set_count(set, from, to), length;

			for (unsigned i = 0; i < count; i++) {
				const uint8_t *route = route_set_get(set, from, to, i, &length);

				add_route(mixture, from, route, length);
			}
		}
}

/* Returns the ports through which any table leaves this switch for the destination, and stores
 * alternative ports in '*others'. */
static uint64_t table_ports(
	const struct mixture *mixture, uint32_t at, uint32_t destination, uint64_t *others)
{
	uint64_t ports = 0;

	*others = 0;
	for (unsigned i = 0; i < mixture->generations; i++) {
		const struct route_table *table = mixture->generation[i].table;
		const uint64_t *sets;
		uint8_t port;

		if (table == NULL || at >= table->switches || destination >= table->hosts)
			continue;
		port = route_table_row(table, at)[destination];
		sets = route_table_alternatives(table, at);
		if (port != ROUTE_TABLE_NONE)
			ports |= (uint64_t)1 << port;
		if (sets != NULL)
			*others |= sets[destination];
	}
	return ports;
}

static void visit(struct mixture *mixture, uint32_t node, uint32_t destination, uint32_t *tail)
{
	if (node == CHANNEL_NONE || mixture->visited[node] == destination + 1)
		return;
	mixture->visited[node] = destination + 1;
	mixture->queue[(*tail)++] = node;
}

static void add_ways(struct mixture *mixture, uint32_t node, uint64_t ports, enum vc_turn turn,
	uint32_t destination, uint32_t *tail)
{
	struct channel_graph *graph = mixture->channels;
	uint32_t at = graph->to[channel_graph_channel(graph, node)].device;

	for (; ports != 0; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctzll(ports);

		if (channel_graph_out(graph, at, port) == CHANNEL_NONE)
			continue;
		channel_graph_depend(graph, node, port, turn);
		visit(mixture, channel_graph_follow(graph, node, port, turn), destination, tail);
	}
}

/* Adds every path of a packet to this destination through any mixture of the tables. */
static void add_tables(struct mixture *mixture, uint32_t destination)
{
	struct channel_graph *graph = mixture->channels;
	uint32_t head = 0, tail = 0;

	for (uint32_t host = 0; host < mixture->cables->hosts; host++)
		if (host != destination)
			visit(mixture, first_node(mixture, host), destination, &tail);
	for (; head < tail; head++) {
		uint32_t node = mixture->queue[head];
		struct topology_port at = graph->to[channel_graph_channel(graph, node)];
		uint64_t primary, others, ways[VC_TURNS];

		if (at.kind != DEVICE_SWITCH)
			continue;
		primary = table_ports(mixture, at.device, destination, &others);
		channel_graph_ways(graph, node, primary, others, ways);
		for (unsigned turn = 0; turn < VC_TURNS; turn++)
			add_ways(mixture, node, ways[turn], turn, destination, &tail);
	}
}

static int add_generations(struct mixture *mixture)
{
	bool tables = false;
	size_t nodes;

	mixture->channels = channel_graph_create(mixture->cables, rule_of(&mixture->generation[0]));
	if (mixture->channels == NULL)
		return -ENOMEM;
	nodes = (size_t)mixture->channels->channels * mixture->channels->classes + 1;
	ARRAYS_ADD(mixture, visited, nodes);
	ARRAYS_ADD(mixture, queue, nodes);
	if (mixture->arrays.failed)
		return -ENOMEM;
	for (unsigned i = 0; i < mixture->generations; i++) {
		tables |= mixture->generation[i].table != NULL;
		if (mixture->generation[i].set != NULL)
			add_routes(mixture, mixture->generation[i].set);
	}
	for (uint32_t to = 0; tables && to < mixture->cables->hosts; to++)
		add_tables(mixture, to);
	return 0;
}

static int look_for_cycle(const struct mixture *mixture, struct error *reason)
{
	uint32_t *cycle, length;
	int result = channel_graph_find_cycle(mixture->channels, &cycle, &length);
	char name[TOPOLOGY_NAME_MAX + 8];

	if (result < 0 || length == 0)
		return result;
	topology_port_name(mixture->cables,
		mixture->channels->from[channel_graph_channel(mixture->channels, cycle[0])], name,
		sizeof(name));
	error_set(reason, EBUSY,
		"old and new routes together form a cycle of %u channels, including %s", length,
		name);
	free(cycle);
	return -EBUSY;
}

int transition_check(
	const struct live_generation *generations, unsigned count, bool *live, struct error *reason)
{
	struct mixture mixture = {.generation = generations, .generations = count};
	int result = check_rules(&mixture, reason);

	if (result == 0)
		result = merge_cables(&mixture, reason);
	if (result == 0)
		result = add_generations(&mixture);
	if (result == 0)
		result = look_for_cycle(&mixture, reason);
	channel_graph_destroy(mixture.channels);
	topology_destroy(mixture.cables);
	arrays_free(&mixture.arrays);
	if (result < 0 && result != -EBUSY)
		return result;
	*live = result == 0;
	return 0;
}
