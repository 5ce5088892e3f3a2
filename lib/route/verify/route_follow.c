/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Collects the dependencies of destination tables. Follows all primary and alternative ports switch
 * by switch, or node by node if there are VC classes. */

#include <string.h>

#include "verify_private.h"

static uint64_t *set_of(const struct verifier *verifier, uint64_t *sets, uint32_t at)
{
	return sets + (size_t)at * verifier->channels->words;
}

static void note_inner_ports(struct verifier *verifier)
{
	const struct channel_graph *channels = verifier->channels;

	for (uint32_t channel = 0; channel < channels->channels; channel++) {
		struct topology_port from = channels->from[channel];

		if (channel_graph_inner(channels, channel))
			set_of(verifier, verifier->walk->inner, from.device)[from.port / 64] |=
				(uint64_t)1 << from.port % 64;
	}
}

static uint64_t primary_of(const struct route_table *table, uint32_t at, uint32_t destination)
{
	uint8_t primary = route_table_row(table, at)[destination];

	return primary < VC_RULE_PORTS ? (uint64_t)1 << primary : 0;
}

static uint64_t alternatives_of(
	const struct route_table *table, uint32_t at, uint32_t destination, unsigned word)
{
	const uint64_t *alternatives = route_table_alternatives(table, at);

	return alternatives == NULL || word >= table->words
		       ? 0
		       : alternatives[(size_t)destination * table->words + word];
}

/* Returns the valid ports of 'ports', one word of a set: those through which switch 'at' may
 * forward a packet. A port without a link, or to a different host, loses packets. */
static uint64_t good_of(const struct verifier *verifier, uint32_t at, unsigned word, uint64_t ports)
{
	uint64_t good = ports & set_of(verifier, verifier->walk->inner, at)[word];
	unsigned last = verifier->walk->last_port;

	if (at == verifier->centre && last / 64 == word)
		good |= ports & (uint64_t)1 << last % 64;
	return good;
}

/* Reports a loss at an alternative port. Losses at primary ports are reported per source. */
static void report_loss(struct verifier *verifier, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	if (table->alternatives != NULL)
		verify_report_invalid(verifier, VERIFY_NO_WAY, destination, "an alternative ends",
			(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
}

/* Stores all valid ports of switch 'at', and reports the others. */
static void note_ports(struct verifier *verifier, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	uint8_t primary = route_table_row(table, at)[destination];
	uint64_t *inner = set_of(verifier, verifier->walk->inner, at);
	uint64_t *good = set_of(verifier, verifier->walk->ports, at);
	uint64_t *onward = set_of(verifier, verifier->walk->onward, at);
	bool loses = false, any = false;

	for (unsigned word = 0; word < verifier->channels->words; word++) {
		uint64_t ports = alternatives_of(table, at, destination, word);

		if (primary != ROUTE_TABLE_NONE && primary / 64 == word)
			ports |= (uint64_t)1 << primary % 64;
		good[word] = good_of(verifier, at, word, ports);
		onward[word] = ports & inner[word];
		loses |= good[word] != ports;
		any |= ports != 0;
	}
	if (loses || !any)
		report_loss(verifier, table, at, destination);
}

/* Sets the valid ports, by turn, of a packet that arrived on a node. With VC classes, a set of
 * ports is a single word. */
static void ways_of(struct verifier *verifier, const struct route_table *table, uint32_t node,
	uint32_t destination, uint64_t ways[VC_TURNS])
{
	const struct channel_graph *channels = verifier->channels;
	uint32_t at = channels->to[channel_graph_channel(channels, node)].device;
	uint64_t ports, good;

	channel_graph_ways(channels, node, primary_of(table, at, destination),
		alternatives_of(table, at, destination, 0), ways);
	ports = ways[VC_GO_ON] | ways[VC_NEXT_STEP];
	good = good_of(verifier, at, 0, ports);
	if (good != ports || ports == 0)
		report_loss(verifier, table, at, destination);
	ways[VC_GO_ON] &= good;
	ways[VC_NEXT_STEP] &= good;
}

static void reach(struct table_walk *walk, uint32_t what, uint32_t *tail)
{
	if (walk->reached[what])
		return;
	walk->reached[what] = true;
	walk->queue[(*tail)++] = what;
}

/* Adds all ports stored for switch 'at' to the dependencies of 'node'. */
static void depend_on(const struct verifier *verifier, uint32_t node, uint32_t at)
{
	uint64_t *set = channel_graph_ports(verifier->channels, node, VC_GO_ON);
	const uint64_t *ports = set_of(verifier, verifier->walk->ports, at);

	for (unsigned word = 0; word < verifier->channels->words; word++)
		set[word] |= ports[word];
}

/* Without classes, the ports depend only on the switch. Each switch is therefore visited once, and
 * every used channel into it depends on its set of ports. Channels from hosts are omitted: no table
 * leads into such a channel, so it cannot be part of a cycle. */
static void follow_switches(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	const struct channel_graph *channels = verifier->channels;
	struct table_walk *walk = verifier->walk;
	uint32_t tail = 0;

	memset(walk->reached, 0, verifier->topology->switches * sizeof(*walk->reached));
	for (uint32_t at = 0; at < verifier->topology->switches; at++)
		if (walk->flow[at] > 0)
			reach(walk, at, &tail);
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t at = walk->queue[head];
		const uint64_t *onward = set_of(verifier, walk->onward, at);

		note_ports(verifier, table, at, destination);
		CHANNEL_GRAPH_EACH(channels, onward, port)
			reach(walk, channels->to[channel_graph_out(channels, at, port)].device,
				&tail);
	}
	for (uint32_t i = 0; i < tail; i++) {
		uint32_t at = walk->queue[i];
		const uint64_t *onward = set_of(verifier, walk->onward, at);

		CHANNEL_GRAPH_EACH(channels, onward, port) {
			uint32_t out = channel_graph_out(channels, at, port);

			depend_on(verifier, out, channels->to[out].device);
		}
	}
}

/* Finds channels into a switch that the rule treats equally (their ports are in the same ring, and
 * both or neither cross a dateline). Their output ports are equal, so one is followed for all. */
static void note_alike(struct verifier *verifier)
{
	const struct channel_graph *channels = verifier->channels;
	const struct vc_rule *rule = channels->rule;

	for (uint32_t channel = 0; channel < channels->channels; channel++) {
		struct topology_port in = channels->to[channel];
		uint32_t first = channel, out;
		unsigned port = 0;

		for (; in.kind == DEVICE_SWITCH && in.port < VC_RULE_PORTS && port < in.port &&
			first == channel;
			port++) {
			out = channel_graph_out(channels, in.device, port);
			if (out != CHANNEL_NONE && vc_rule_alike(rule, in.device, port, in.port))
				first = out ^ 1;
		}
		for (uint32_t class = 0; class < channels->classes; class ++)
			verifier->walk->alike[channel_graph_node(channels, channel, class)] =
				channel_graph_node(channels, first, class);
	}
}

/* Marks a node as reached, and queues the first node that is treated equally. */
static void reach_node(struct table_walk *walk, uint32_t node, uint32_t *nodes, uint32_t *tail)
{
	if (walk->reached[node])
		return;
	walk->reached[node] = true;
	walk->node[(*nodes)++] = node;
	if (walk->followed[walk->alike[node]])
		return;
	walk->followed[walk->alike[node]] = true;
	walk->queue[(*tail)++] = walk->alike[node];
}

/* Reaches the next nodes through these ports. Ports treated equally lead to the same class. */
static void follow_ports(struct verifier *verifier, uint32_t node, enum vc_turn turn,
	uint64_t ports, uint32_t *nodes, uint32_t *tail)
{
	const struct channel_graph *channels = verifier->channels;
	uint32_t channel = channel_graph_channel(channels, node);
	const struct topology_port in = channels->to[channel];
	uint8_t from = (uint8_t)(node - channel * channels->classes), class = 0;
	unsigned last = VC_RULE_PORTS;

	for (; ports != 0; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctzll(ports);

		if (last == VC_RULE_PORTS || !vc_rule_alike(channels->rule, in.device, last, port))
			class = vc_rule_next(channels->rule, in.device, in.port, from, port, turn);
		last = port;
		reach_node(verifier->walk,
			channel_graph_node(
				channels, channel_graph_out(channels, in.device, port), class),
			nodes, tail);
	}
}

static void follow_nodes(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	const struct channel_graph *channels = verifier->channels;
	const unsigned turns = channels->turns < VC_TURNS ? channels->turns : VC_TURNS;
	struct table_walk *walk = verifier->walk;
	uint32_t nodes = 0, tail = 0;

	for (uint32_t source = 0; source < verifier->topology->hosts; source++)
		if (verifier->answered[source] && source != destination)
			reach_node(walk,
				channel_graph_node(channels, channels->host_out[source], 0), &nodes,
				&tail);
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t node = walk->queue[head];
		uint32_t at = channels->to[channel_graph_channel(channels, node)].device;
		uint64_t *ways = walk->ways[node];

		ways_of(verifier, table, node, destination, ways);
		for (unsigned turn = 0; turn < turns; turn++)
			follow_ports(
				verifier, node, turn, ways[turn] & walk->inner[at], &nodes, &tail);
	}
	for (uint32_t i = 0; i < nodes; i++) {
		uint32_t node = walk->node[i], alike = walk->alike[node];

		for (unsigned turn = 0; turn < turns; turn++)
			*channel_graph_ports(channels, node, turn) |= walk->ways[alike][turn];
		walk->reached[node] = walk->followed[alike] = false;
	}
}

const uint64_t *verify_inner_ports(const struct verifier *verifier, uint32_t at)
{
	return set_of(verifier, verifier->walk->inner, at);
}

void verify_follow_prepare(struct verifier *verifier)
{
	note_inner_ports(verifier);
	if (verifier->channels->rule != NULL)
		note_alike(verifier);
}

void verify_follow(struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	if (verifier->centre != VERIFY_NO_WAY)
		verifier->walk->last_port =
			verifier->channels->to[verifier->channels->host_out[destination]].port;
	if (verifier->channels->rule == NULL)
		follow_switches(verifier, table, destination);
	else
		follow_nodes(verifier, table, destination);
}
