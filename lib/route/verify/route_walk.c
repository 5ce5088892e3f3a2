/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * The verifier's walk through destination tables. What a switch does with a packet to one
 * destination does not depend on where the packet comes from, so all sources are walked together:
 * the primary ports form a tree (if they do not, that is the finding), along which sources are
 * summed up; and whatever primary and alternative ports reach is followed switch by switch for the
 * dependencies, or node by node where there are VC classes.
 */

#include <stdlib.h>
#include <string.h>

#include "verify_private.h"

#define CIRCLE  (UINT32_MAX - 1) /* the primary ports lead around */
#define LOST    (UINT32_MAX - 2) /* they end before the destination */
#define UNKNOWN JUDGE_NO_WAY

struct table_walk {
	uint32_t *hops;    /* by switch: links to the destination by primary ports, or see above */
	uint32_t *path;    /* of switches */
	uint64_t *flow;    /* by switch: sources whose packets pass */
	uint32_t *by_hops; /* switches that arrive, the farthest first */
	uint32_t *count;   /* work space of the counting sort */
	uint64_t *inner;   /* by switch: its ports that lead to switches */
	uint64_t *ports;   /* by switch: all ports that packets to the destination may take */
	uint8_t last_port; /* of the destination, at its switch */
	bool *reached;     /* by switch, or by node where there are classes */
	uint32_t *queue;   /* likewise */
};

static void note_inner_ports(struct judge *judge)
{
	const struct channel_graph *channels = judge->channels;

	for (uint32_t channel = 0; channel < channels->channels; channel++)
		if (channel_graph_inner(channels, channel))
			judge->walk->inner[channels->from[channel].device] |=
				(uint64_t)1 << channels->from[channel].port;
}

int judge_walk_create(struct judge *judge)
{
	size_t switches = judge->topology->switches + 2u;
	size_t nodes = (size_t)judge->channels->channels * judge->channels->classes + switches;
	struct table_walk *walk = calloc(1, sizeof(*walk));

	judge->walk = walk;
	if (walk == NULL)
		return -ENOMEM;
	walk->hops = calloc(switches, sizeof(*walk->hops));
	walk->path = calloc(switches, sizeof(*walk->path));
	walk->flow = calloc(switches, sizeof(*walk->flow));
	walk->by_hops = calloc(switches, sizeof(*walk->by_hops));
	walk->count = calloc(switches, sizeof(*walk->count));
	walk->inner = calloc(switches, sizeof(*walk->inner));
	walk->ports = calloc(switches, sizeof(*walk->ports));
	walk->reached = calloc(nodes, sizeof(*walk->reached));
	walk->queue = calloc(nodes, sizeof(*walk->queue));
	if (walk->hops == NULL || walk->path == NULL || walk->flow == NULL ||
		walk->by_hops == NULL || walk->count == NULL || walk->inner == NULL ||
		walk->ports == NULL || walk->reached == NULL || walk->queue == NULL)
		return -ENOMEM;
	note_inner_ports(judge);
	return 0;
}

void judge_walk_destroy(struct judge *judge)
{
	struct table_walk *walk = judge->walk;

	if (walk == NULL)
		return;
	free(walk->hops);
	free(walk->path);
	free(walk->flow);
	free(walk->by_hops);
	free(walk->count);
	free(walk->inner);
	free(walk->ports);
	free(walk->reached);
	free(walk->queue);
	free(walk);
}

/* The channel that the primary port leads into; CHANNEL_NONE without an entry or a link. */
static uint32_t primary_out(const struct judge *judge, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	return channel_graph_out(judge->channels, at, route_table_row(table, at)[destination]);
}

/* What the switch after 'at' says, or what is known without one. */
static uint32_t hops_of_next(const struct judge *judge, const struct route_table *table,
	uint32_t at, uint32_t destination, uint32_t *next)
{
	uint32_t out = primary_out(judge, table, at, destination);
	struct topology_port to;

	*next = JUDGE_NO_WAY;
	if (out == CHANNEL_NONE)
		return LOST;
	to = judge->channels->to[out];
	if (to.kind == DEVICE_HOST)
		return to.device == destination ? 0 : LOST;
	*next = to.device;
	return judge->walk->hops[to.device];
}

/* Follows the primary ports from 'at' until something is known, and tells those on the way. While
 * a switch is on the path it counts as leading around: that is what who meets it again finds. */
static void measure_hops(
	struct judge *judge, const struct route_table *table, uint32_t at, uint32_t destination)
{
	struct table_walk *walk = judge->walk;
	uint32_t depth = 0, next = at, hops = UNKNOWN;
	bool at_host = false;

	while (hops == UNKNOWN) {
		walk->path[depth++] = next;
		walk->hops[next] = CIRCLE;
		hops = hops_of_next(judge, table, next, destination, &next);
		at_host = next == JUDGE_NO_WAY;
	}
	while (depth-- > 0) {
		if (hops < LOST && !at_host)
			hops++;
		at_host = false;
		walk->hops[walk->path[depth]] = hops;
	}
}

static uint32_t sort_by_hops(struct judge *judge)
{
	struct table_walk *walk = judge->walk;
	uint32_t switches = judge->topology->switches, sum = 0;

	memset(walk->count, 0, (switches + 1u) * sizeof(*walk->count));
	for (uint32_t at = 0; at < switches; at++)
		if (walk->hops[at] < switches)
			walk->count[walk->hops[at]]++;
	for (uint32_t hops = switches; hops-- > 0;) {
		uint32_t here = walk->count[hops];

		walk->count[hops] = sum;
		sum += here;
	}
	for (uint32_t at = 0; at < switches; at++)
		if (walk->hops[at] < switches)
			walk->by_hops[walk->count[walk->hops[at]]++] = at;
	return sum;
}

/* Sources, farthest first: their packets add up on the way. */
static void add_flows(struct judge *judge, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = judge->walk;
	uint32_t arrive = sort_by_hops(judge);

	for (uint32_t i = 0; i < arrive; i++) {
		uint32_t at = walk->by_hops[i], out = primary_out(judge, table, at, destination);
		struct topology_port to = judge->channels->to[out];

		judge->load[out] += walk->flow[at];
		if (to.kind == DEVICE_SWITCH)
			walk->flow[to.device] += walk->flow[at];
	}
}

/* Each host's packets to the destination: do they arrive? */
static void judge_sources(
	struct judge *judge, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = judge->walk;

	for (uint32_t source = 0; source < judge->topology->hosts; source++) {
		uint32_t at = judge_host_switch(judge, source), hops;

		if (source == destination || at == JUDGE_NO_WAY ||
			route_table_row(table, at)[destination] == ROUTE_TABLE_NONE)
			continue;
		if (walk->hops[at] == UNKNOWN)
			measure_hops(judge, table, at, destination);
		hops = walk->hops[at];
		if (hops == CIRCLE || hops == LOST) {
			judge_note_invalid(judge, source, destination,
				hops == CIRCLE ? "the tables send it in a circle"
					       : "the tables lose it on the way",
				(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
			continue;
		}
		walk->flow[at]++;
		judge->answered[source] = true;
		judge_count(judge, at, hops, 0);
	}
}

/* All ports by which switch 'at' may send a packet on. One without a link, or to another host, and
 * a switch without any, lose packets: a finding where an alternative led here. Where primary ports
 * did, the sources have said it. */
static uint64_t ports_of(
	struct judge *judge, const struct route_table *table, uint32_t at, uint32_t destination)
{
	const uint64_t *alternatives = route_table_alternatives(table, at);
	uint8_t primary = route_table_row(table, at)[destination];
	uint64_t ports = primary < TOPOLOGY_PORTS_MAX ? (uint64_t)1 << primary : 0, good;

	if (alternatives != NULL)
		ports |= alternatives[destination];
	good = ports & judge->walk->inner[at];
	if (at == judge->centre)
		good |= ports & (uint64_t)1 << judge->walk->last_port;
	if ((good != ports || ports == 0) && alternatives != NULL)
		judge_note_invalid(judge, JUDGE_NO_WAY, destination, "an alternative ends",
			(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
	return good;
}

static void reach(struct table_walk *walk, uint32_t what, uint32_t *tail)
{
	if (walk->reached[what])
		return;
	walk->reached[what] = true;
	walk->queue[(*tail)++] = what;
}

/* The switch behind the first of the ports. */
static uint32_t switch_after(const struct channel_graph *channels, uint32_t at, uint64_t ports)
{
	uint32_t out = channel_graph_out(channels, at, (unsigned)__builtin_ctzll(ports));

	return channels->to[out].device;
}

/* Without classes the ports depend on the switch alone, so each switch is looked at once, and every
 * channel into it that is used depends on its set. Channels from hosts depend on others, but no
 * table leads into one, so they cannot be part of a cycle and are left out. */
static void follow_switches(
	struct judge *judge, const struct route_table *table, uint32_t destination)
{
	const struct channel_graph *channels = judge->channels;
	struct table_walk *walk = judge->walk;
	uint32_t tail = 0;

	memset(walk->reached, 0, judge->topology->switches * sizeof(*walk->reached));
	for (uint32_t at = 0; at < judge->topology->switches; at++)
		if (walk->flow[at] > 0)
			reach(walk, at, &tail);
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t at = walk->queue[head];
		uint64_t ports = ports_of(judge, table, at, destination);

		walk->ports[at] = ports;
		for (ports &= walk->inner[at]; ports != 0; ports &= ports - 1)
			reach(walk, switch_after(channels, at, ports), &tail);
	}
	for (uint32_t i = 0; i < tail; i++) {
		uint32_t at = walk->queue[i];

		for (uint64_t ports = walk->ports[at] & walk->inner[at]; ports != 0;
			ports &= ports - 1)
			channels->dependencies[channel_graph_out(
				channels, at, (unsigned)__builtin_ctzll(ports))] |=
				walk->ports[switch_after(channels, at, ports)];
	}
}

/* With classes: node by node, from each host's channel on. */
static void follow_nodes(struct judge *judge, const struct route_table *table, uint32_t destination)
{
	const struct channel_graph *channels = judge->channels;
	struct table_walk *walk = judge->walk;
	uint32_t tail = 0;

	memset(walk->reached, 0,
		(size_t)channels->channels * channels->classes * sizeof(*walk->reached));
	for (uint32_t source = 0; source < judge->topology->hosts; source++)
		if (judge->answered[source] && source != destination)
			reach(walk, channel_graph_node(channels, channels->host_out[source], 0),
				&tail);
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t node = walk->queue[head];
		uint32_t at = channels->to[channel_graph_channel(channels, node)].device;
		uint64_t ports = ports_of(judge, table, at, destination);

		channels->dependencies[node] |= ports;
		for (ports &= walk->inner[at]; ports != 0; ports &= ports - 1)
			reach(walk,
				channel_graph_follow(
					channels, node, (unsigned)__builtin_ctzll(ports)),
				&tail);
	}
}

uint64_t judge_inner_ports(const struct judge *judge, uint32_t at)
{
	return judge->walk->inner[at];
}

void judge_tables(struct judge *judge, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = judge->walk;
	uint32_t switches = judge->topology->switches;

	memset(walk->hops, 0xFF, switches * sizeof(*walk->hops));
	memset(walk->flow, 0, switches * sizeof(*walk->flow));
	if (judge->centre != JUDGE_NO_WAY)
		walk->last_port = judge->channels->to[judge->channels->host_out[destination]].port;
	judge_sources(judge, table, destination);
	add_flows(judge, table, destination);
	if (judge->channels->rule == NULL)
		follow_switches(judge, table, destination);
	else
		follow_nodes(judge, table, destination);
}
