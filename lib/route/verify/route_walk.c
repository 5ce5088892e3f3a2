/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The verifier's walk through destination tables. A switch treats all packets to one destination
 * alike, so all sources are walked together. The primary ports form a tree (if they do not, that is
 * the finding), along which sources are summed up. Everything that primary and alternative ports
 * reach is followed switch by switch for the dependencies, or node by node if there are VC classes.
 */

#include <stdlib.h>
#include <string.h>

#include "verify_private.h"

#define CIRCLE  (UINT32_MAX - 1) /* the primary ports form a loop */
#define LOST    (UINT32_MAX - 2) /* they end before the destination */
#define UNKNOWN VERIFY_NO_WAY

struct table_walk {
	uint32_t *hops; /* by switch: links to the destination by primary ports, or a value above */
	uint32_t *path; /* switches on the route */
	uint64_t *flow; /* by switch: sources whose packets pass */
	double *rate;   /* by switch: the sum of their rates */
	uint32_t *by_hops;    /* switches that arrive, the farthest first */
	uint32_t *count;      /* scratch space of the counting sort */
	uint64_t *inner;      /* by switch, a set: its ports that lead to switches */
	uint64_t *ports;      /* all ports that packets to the destination may use */
	uint64_t *onward;     /* ports among those that lead to switches */
	uint8_t last_port;    /* the destination's port at its switch */
	bool *reached;        /* by switch, or by node if there are classes */
	uint32_t *queue;      /* by switch or node, likewise */
	struct arrays arrays; /* all of these */
};

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

int verify_walk_create(struct verifier *verifier)
{
	size_t switches = verifier->topology->switches + 2u;
	size_t nodes =
		(size_t)verifier->channels->channels * verifier->channels->classes + switches;
	struct table_walk *walk = calloc(1, sizeof(*walk));

	verifier->walk = walk;
	if (walk == NULL)
		return -ENOMEM;
	ARRAYS_ADD(walk, hops, switches);
	ARRAYS_ADD(walk, path, switches);
	ARRAYS_ADD(walk, flow, switches);
	ARRAYS_ADD(walk, rate, switches);
	ARRAYS_ADD(walk, by_hops, switches);
	ARRAYS_ADD(walk, count, switches);
	ARRAYS_ADD(walk, inner, switches * verifier->channels->words);
	ARRAYS_ADD(walk, ports, switches * verifier->channels->words);
	ARRAYS_ADD(walk, onward, switches * verifier->channels->words);
	ARRAYS_ADD(walk, reached, nodes);
	ARRAYS_ADD(walk, queue, nodes);
	if (walk->arrays.failed)
		return -ENOMEM;
	note_inner_ports(verifier);
	return 0;
}

void verify_walk_destroy(struct verifier *verifier)
{
	struct table_walk *walk = verifier->walk;

	if (walk == NULL)
		return;
	arrays_free(&walk->arrays);
	free(walk);
}

/* The channel of the primary port; CHANNEL_NONE without an entry or a link. */
static uint32_t primary_out(const struct verifier *verifier, const struct route_table *table,
	uint32_t at, uint32_t destination)
{
	return channel_graph_out(verifier->channels, at, route_table_port(table, at, destination));
}

/* The result of the switch after 'at' or, if there is no such switch, the result of 'at' itself. */
static uint32_t hops_of_next(const struct verifier *verifier, const struct route_table *table,
	uint32_t at, uint32_t destination, uint32_t *next)
{
	uint32_t out = primary_out(verifier, table, at, destination);
	struct topology_port to;

	*next = VERIFY_NO_WAY;
	if (out == CHANNEL_NONE)
		return LOST;
	to = verifier->channels->to[out];
	if (to.kind == DEVICE_HOST)
		return to.device == destination ? 0 : LOST;
	*next = to.device;
	return verifier->walk->hops[to.device];
}

/* Follows the primary ports from 'at' to a switch with a known result and passes this on to the
 * switches on the way. Switches on the path are marked as a loop, because that is what meeting one
 * of them again means. */
static void measure_hops(struct verifier *verifier, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t depth = 0, next = at, hops = UNKNOWN;
	bool at_host = false;

	while (hops == UNKNOWN) {
		walk->path[depth++] = next;
		walk->hops[next] = CIRCLE;
		hops = hops_of_next(verifier, table, next, destination, &next);
		at_host = next == VERIFY_NO_WAY;
	}
	while (depth-- > 0) {
		if (hops < LOST && !at_host)
			hops++;
		at_host = false;
		walk->hops[walk->path[depth]] = hops;
	}
}

static uint32_t sort_by_hops(struct verifier *verifier)
{
	struct table_walk *walk = verifier->walk;
	uint32_t switches = verifier->topology->switches, sum = 0;

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

static void add_flows(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t arrive = sort_by_hops(verifier);

	for (uint32_t i = 0; i < arrive; i++) {
		uint32_t at = walk->by_hops[i], out = primary_out(verifier, table, at, destination);
		struct topology_port to = verifier->channels->to[out];

		verifier->load[out] += walk->flow[at];
		verifier->demand[out] += walk->rate[at];
		if (to.kind != DEVICE_SWITCH)
			continue;
		walk->flow[to.device] += walk->flow[at];
		walk->rate[to.device] += walk->rate[at];
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

static void verify_sources(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;

	for (uint32_t source = 0; source < verifier->topology->hosts; source++) {
		uint32_t at = verify_host_switch(verifier, source), hops;

		if (source == destination || at == VERIFY_NO_WAY ||
			route_table_port(table, at, destination) == ROUTE_TABLE_NONE)
			continue;
		if (walk->hops[at] == UNKNOWN)
			measure_hops(verifier, table, at, destination);
		hops = walk->hops[at];
		if (hops == CIRCLE || hops == LOST) {
			verify_report_invalid(verifier, source, destination,
				hops == CIRCLE ? "the tables send it in a circle"
					       : "the tables lose it on its path",
				(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
			continue;
		}
		walk->flow[at]++;
		walk->rate[at] += verify_host_rate(verifier, source);
		verifier->demand[verifier->channels->host_out[source]] +=
			verify_host_rate(verifier, source);
		verifier->answered[source] = true;
		verify_count(verifier, at, hops, 0);
	}
}

/* The good ports in 'ports', one word of a set: those through which switch 'at' may forward a
 * packet. A port without a link, or to another host, loses packets. */
static uint64_t good_of(const struct verifier *verifier, uint32_t at, unsigned word, uint64_t ports)
{
	uint64_t good = ports & set_of(verifier, verifier->walk->inner, at)[word];
	unsigned last = verifier->walk->last_port;

	if (at == verifier->centre && last / 64 == word)
		good |= ports & (uint64_t)1 << last % 64;
	return good;
}

/* Reports a finding if an alternative led here; losses at primary ports are reported for the
 * sources. */
static void report_loss(struct verifier *verifier, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	if (table->alternatives != NULL)
		verify_report_invalid(verifier, VERIFY_NO_WAY, destination, "an alternative ends",
			(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
}

/* Notes all good ports of switch 'at'. */
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

/* The good ports of a packet that arrived on a node, by turn. Networks with VC classes have sets of
 * one word. */
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

/* Adds all ports noted for switch 'at' to the dependencies of 'node'. */
static void depend_on(const struct verifier *verifier, uint32_t node, uint32_t at)
{
	uint64_t *set = channel_graph_ports(verifier->channels, node, VC_GO_ON);
	const uint64_t *ports = set_of(verifier, verifier->walk->ports, at);

	for (unsigned word = 0; word < verifier->channels->words; word++)
		set[word] |= ports[word];
}

/* Without classes the ports depend on the switch alone, so each switch is visited once, and every
 * used channel into it depends on its set. Channels from hosts depend on others, but no table leads
 * into one, so they cannot be part of a cycle and are left out. */
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

static void follow_nodes(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	const struct channel_graph *channels = verifier->channels;
	struct table_walk *walk = verifier->walk;
	uint32_t tail = 0;

	memset(walk->reached, 0,
		(size_t)channels->channels * channels->classes * sizeof(*walk->reached));
	for (uint32_t source = 0; source < verifier->topology->hosts; source++)
		if (verifier->answered[source] && source != destination)
			reach(walk, channel_graph_node(channels, channels->host_out[source], 0),
				&tail);
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t node = walk->queue[head];
		uint32_t at = channels->to[channel_graph_channel(channels, node)].device;
		uint64_t ways[VC_TURNS];

		ways_of(verifier, table, node, destination, ways);
		for (unsigned turn = 0; turn < VC_TURNS && turn < channels->turns; turn++) {
			*channel_graph_ports(channels, node, turn) |= ways[turn];
			for (uint64_t ports = ways[turn] & walk->inner[at]; ports != 0;
				ports &= ports - 1)
				reach(walk,
					channel_graph_follow(channels, node,
						(unsigned)__builtin_ctzll(ports), turn),
					&tail);
		}
	}
}

const uint64_t *verify_inner_ports(const struct verifier *verifier, uint32_t at)
{
	return set_of(verifier, verifier->walk->inner, at);
}

void verify_tables(struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t switches = verifier->topology->switches;

	memset(walk->hops, 0xFF, switches * sizeof(*walk->hops));
	memset(walk->flow, 0, switches * sizeof(*walk->flow));
	for (uint32_t at = 0; at < switches; at++)
		walk->rate[at] = 0;
	if (verifier->centre != VERIFY_NO_WAY)
		walk->last_port =
			verifier->channels->to[verifier->channels->host_out[destination]].port;
	verify_sources(verifier, table, destination);
	add_flows(verifier, table, destination);
	if (verifier->channels->rule == NULL)
		follow_switches(verifier, table, destination);
	else
		follow_nodes(verifier, table, destination);
}
