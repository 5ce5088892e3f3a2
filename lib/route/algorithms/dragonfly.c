/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "queuing/vc_ladder.h"
#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "topo/topology.h"

/* Routing in a Dragonfly (Kim, Dally, Scott, Abts, ISCA 2008; progressive: Jiang, Kim, Dally, ISCA
 * 2009), as destination tables. The primary port is minimal:
 *
 *     in the group of the destination    the local link to it; if that is missing, the local link
 *                                        to a switch that has one
 *     elsewhere                          an own global link to that group, if possible to the
 *                                        destination itself; else the local link to a switch with
 *                                        such a link
 *
 * Alternatives are the ports where a detour may start: own global links to other groups, and local
 * links to switches with such links. A global link is used only if its far end has a minimal port.
 * Among equal links, the host's number decides. The switches choose (lib/switch/detour.h).
 *
 * No deadlock: each hop takes a higher rung of the ladder (vc_ladder.h), and no path has more hops
 * than the ladder has rungs. A minimal path is l g l, or l l within one group, which skips g. A
 * detour is l g to the other group, and a minimal path from there.
 *
 * Failures: a pair whose groups have no link left has no minimal port, and all its packets take
 * detours. If there is no detour either, the network is refused. */

/* The groups of a Dragonfly, recognised by its ports (lib/topo/generators/dragonfly.c): links
 * between ports below a certain number are local, the others are global. Switches connected by
 * local links form a group. This applies equally to generated, loaded and degraded networks. A
 * fully connected network is one group.
 *
 * Constant after creation; any thread may read it. */

struct dragonfly_groups {
	const struct route_graph *graph;
	unsigned local_ports; /* links from lower ports are local */
	uint32_t *group;      /* by switch: first switch of its group */
	uint32_t *piece;      /* by switch: first switch of its connected component */
	struct arrays arrays;
};

static inline bool dragonfly_groups_is_local(
	const struct dragonfly_groups *groups, const struct route_arc *arc)
{
	return arc->port < groups->local_ports;
}

/* Returns true if no link joins a port below 'end' to a port from 'end' on. */
static bool divides(const struct route_graph *graph, unsigned end)
{
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if ((graph->arc[arc].port < end) != (graph->arc[graph->arc[arc].back].port < end))
			return false;
	return true;
}

/* Labels the components connected by links at ports below 'end'. Returns the size of the largest.
 * 'queue' is scratch space. */
static uint32_t label(
	const struct route_graph *graph, unsigned end, uint32_t *part, uint32_t *queue)
{
	uint32_t largest = 0;

	memset(part, 0xFF, graph->switches * sizeof(*part));
	for (uint32_t first = 0; first < graph->switches; first++) {
		uint32_t tail = 0;

		if (part[first] != ROUTE_GRAPH_NONE)
			continue;
		part[queue[tail++] = first] = first;
		for (uint32_t head = 0; head < tail; head++)
			for (uint32_t arc = graph->first_arc[queue[head]];
				arc < graph->first_arc[queue[head] + 1]; arc++) {
				uint32_t to = graph->arc[arc].to;

				if (graph->arc[arc].port >= end || part[to] != ROUTE_GRAPH_NONE)
					continue;
				part[queue[tail++] = to] = first;
			}
		largest = tail > largest ? tail : largest;
	}
	return largest;
}

static bool global_leaves_group(const struct dragonfly_groups *groups)
{
	const struct route_graph *graph = groups->graph;

	for (uint32_t at = 0; at < graph->switches; at++)
		for (uint32_t arc = graph->first_arc[at]; arc < graph->first_arc[at + 1]; arc++)
			if (!dragonfly_groups_is_local(groups, &graph->arc[arc]) &&
				groups->group[at] == groups->group[graph->arc[arc].to])
				return false;
	return true;
}

static void dragonfly_groups_free(struct dragonfly_groups *groups)
{
	arrays_free(&groups->arrays);
}

/* Every network has groups; without local links, each switch is one. Returns 0 or -ENOMEM. */
static int dragonfly_groups_make(
	struct dragonfly_groups *groups, const struct route_graph *graph, struct error *error)
{
	uint32_t *queue;
	unsigned ports = 0;
	bool found = false;

	*groups = (struct dragonfly_groups){.graph = graph};
	ARRAYS_ADD(groups, group, graph->switches + 1u);
	ARRAYS_ADD(groups, piece, graph->switches + 1u);
	queue = arrays_add(&groups->arrays, graph->switches + 1u, sizeof(*queue));
	if (groups->arrays.failed) {
		dragonfly_groups_free(groups);
		return route_graph_no_memory(graph, error);
	}
	label(graph, TOPOLOGY_PORTS_MAX, groups->piece, queue);
	/* A group of n switches has n - 1 local ports. Selects the largest groups that fit. Without
	 * local ports every switch is a group, which always fits. */
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if (graph->arc[arc].port >= ports)
			ports = graph->arc[arc].port + 1u;
	for (unsigned end = ports + 1; end > 0 && !found; end--) {
		groups->local_ports = end - 1;
		found = divides(graph, end - 1) &&
			label(graph, end - 1, groups->group, queue) <= end &&
			global_leaves_group(groups);
	}
	return 0;
}

struct fly {
	struct dragonfly_groups groups;
	const struct vc_ladder *ladder;
	struct route_table *table;
	uint32_t to; /* switch of the destination */
	/* By switch, for the current destination. */
	bool *direct;     /* has a local link to the destination's switch, or is that switch */
	uint8_t *own;     /* length of the path over its own global link, 1 or 2; 0: no such link */
	uint64_t *next;   /* ports of the minimal paths */
	uint64_t *global; /* global ports on which a detour may leave the group */
};

static bool same_group(const struct fly *fly, uint32_t a, uint32_t b)
{
	return fly->groups.group[a] == fly->groups.group[b];
}

/* Loops over the arcs of switch 'at'. */
#define EACH_ARC(arc, fly, at)                                                  \
	const struct route_arc *arc = (fly)->groups.graph->arc +                \
				      (fly)->groups.graph->first_arc[at],       \
			       *end = (fly)->groups.graph->arc +                \
				      (fly)->groups.graph->first_arc[(at) + 1]; \
	arc < end;                                                              \
	arc++

static void find_direct(struct fly *fly)
{
	memset(fly->direct, 0, fly->groups.graph->switches * sizeof(*fly->direct));
	fly->direct[fly->to] = true;
	for (EACH_ARC(arc, fly, fly->to))
		if (dragonfly_groups_is_local(&fly->groups, arc))
			fly->direct[arc->to] = true;
}

/* Returns the number of links to the destination over this arc; 0 if its far end is outside the
 * destination's group or has no local link to the destination. */
static unsigned links_after(const struct fly *fly, const struct route_arc *arc)
{
	if (!same_group(fly, arc->to, fly->to) || !fly->direct[arc->to])
		return 0;
	return arc->to == fly->to ? 1 : 2;
}

static void keep_shorter(uint64_t *ports, unsigned *shortest, unsigned links, unsigned port)
{
	if (links == 0 || (*shortest != 0 && links > *shortest))
		return;
	*ports = links == *shortest ? *ports | (uint64_t)1 << port : (uint64_t)1 << port;
	*shortest = links;
}

/* Finds the minimal ports: global ones or, within the destination's group, local ones. */
static void find_own(struct fly *fly, uint32_t at)
{
	bool inside = same_group(fly, at, fly->to);
	unsigned shortest = 0;

	fly->next[at] = 0;
	for (EACH_ARC(arc, fly, at))
		if (at != fly->to && dragonfly_groups_is_local(&fly->groups, arc) == inside)
			keep_shorter(&fly->next[at], &shortest, links_after(fly, arc), arc->port);
	fly->own[at] = (uint8_t)shortest;
}

/* Returns the local ports to switches with the shortest path over their own global links. */
static uint64_t find_by_neighbour(const struct fly *fly, uint32_t at)
{
	unsigned shortest = 0;
	uint64_t ports = 0;

	for (EACH_ARC(arc, fly, at))
		if (dragonfly_groups_is_local(&fly->groups, arc))
			keep_shorter(&ports, &shortest, fly->own[arc->to], arc->port);
	return ports;
}

static void find_minimal(struct fly *fly)
{
	uint32_t switches = fly->groups.graph->switches;

	find_direct(fly);
	for (uint32_t at = 0; at < switches; at++)
		find_own(fly, at);
	for (uint32_t at = 0; at < switches; at++)
		if (fly->own[at] == 0 && at != fly->to && !same_group(fly, at, fly->to))
			fly->next[at] = find_by_neighbour(fly, at);
}

static bool arrives(const struct fly *fly, uint32_t at)
{
	return at == fly->to || fly->next[at] != 0;
}

static void find_globals(struct fly *fly)
{
	for (uint32_t at = 0; at < fly->groups.graph->switches; at++) {
		fly->global[at] = 0;
		for (EACH_ARC(arc, fly, at))
			if (!dragonfly_groups_is_local(&fly->groups, arc) && arrives(fly, arc->to))
				fly->global[at] |= (uint64_t)1 << arc->port;
	}
}

/* Returns the ports on which a detour from this switch may start. After a detour to a switch, a
 * minimal path may start at any switch to which a local port of the set leads. */
static uint64_t find_detours(const struct fly *fly, uint32_t at)
{
	uint64_t ports = fly->global[at];
	bool minimal = arrives(fly, at);

	if (fly->ladder->choice == VC_LADDER_NEVER || (minimal && same_group(fly, at, fly->to)))
		return 0;
	for (EACH_ARC(arc, fly, at))
		if (dragonfly_groups_is_local(&fly->groups, arc) && fly->global[arc->to] != 0 &&
			(!fly->ladder->node || !minimal || arrives(fly, arc->to)))
			ports |= (uint64_t)1 << arc->port;
	return ports;
}

static uint8_t nth_port(uint64_t ports, uint32_t n)
{
	for (n %= (uint32_t)__builtin_popcountll(ports); n > 0; n--)
		ports &= ports - 1;
	return (uint8_t)__builtin_ctzll(ports);
}

/* Fills the entries of switch 'at' for all hosts of the destination's switch. */
static int fill(struct fly *fly, uint32_t at, struct error *error)
{
	const struct route_graph *graph = fly->groups.graph;
	uint64_t detours = at == fly->to ? 0 : find_detours(fly, at);
	uint64_t *sets = route_table_alternatives(fly->table, at);

	if (!arrives(fly, at) && detours == 0) {
		if (fly->groups.piece[at] != fly->groups.piece[fly->to] ||
			route_graph_hosts_at(graph, at) == 0)
			return 0;
		return error_set(error, EINVAL,
			"%s: there is no path from %s to %s; use a Dragonfly with links between "
			"its groups",
			graph->topology->name, graph->topology->switch_at[at].name,
			graph->topology->switch_at[fly->to].name);
	}
	for (uint32_t i = graph->first_host[fly->to]; i < graph->first_host[fly->to + 1]; i++) {
		uint32_t host = graph->host_of[i];

		if (at == fly->to)
			route_table_row(fly->table, at)[host] = graph->host_port[host];
		else if (fly->next[at] != 0)
			route_table_row(fly->table, at)[host] = nth_port(fly->next[at], host);
		if (sets != NULL)
			sets[host] = detours;
	}
	return 0;
}

static int fill_all(struct fly *fly, struct error *error)
{
	const struct route_graph *graph = fly->groups.graph;
	int result = 0;

	for (fly->to = 0; fly->to < graph->switches && result == 0; fly->to++) {
		if (route_graph_hosts_at(graph, fly->to) == 0)
			continue;
		find_minimal(fly);
		find_globals(fly);
		for (uint32_t at = 0; at < graph->switches && result == 0; at++)
			result = fill(fly, at, error);
	}
	return result;
}

/* Ports of links that are down keep their kind, so that a failure does not change the rule. */
static struct vc_rule *make_rule(const struct dragonfly_groups *groups, uint8_t steps)
{
	const struct route_graph *graph = groups->graph;
	struct vc_rule *rule =
		vc_rule_create(graph->switches, vc_ladder_classes(vc_ladder_find(steps)));
	unsigned ports = 0;

	if (rule == NULL)
		return NULL;
	rule->steps = steps;
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		if (graph->arc[arc].port >= ports)
			ports = graph->arc[arc].port + 1u;
	for (uint32_t at = 0; at < graph->switches; at++)
		for (unsigned port = 0; port < ports; port++) {
			rule->ring[(size_t)at * VC_RULE_PORTS + port] = 0;
			if (port >= groups->local_ports)
				rule->dateline[at] |= (uint64_t)1 << port;
		}
	for (uint32_t host = 0; host < graph->hosts; host++)
		if (graph->host_switch[host] != ROUTE_GRAPH_NONE) {
			uint32_t at = graph->host_switch[host];
			unsigned port = graph->host_port[host];

			rule->ring[(size_t)at * VC_RULE_PORTS + port] = VC_RULE_NO_RING;
			rule->dateline[at] &= ~((uint64_t)1 << port);
		}
	return rule;
}

static bool allocate(struct fly *fly, uint8_t steps)
{
	const struct route_graph *graph = fly->groups.graph;
	size_t switches = graph->switches + 1u;
	struct route_table *table = fly->table;

	fly->direct = arrays_add(&fly->groups.arrays, switches, sizeof(*fly->direct));
	fly->own = arrays_add(&fly->groups.arrays, switches, sizeof(*fly->own));
	fly->next = arrays_add(&fly->groups.arrays, switches, sizeof(*fly->next));
	fly->global = arrays_add(&fly->groups.arrays, switches, sizeof(*fly->global));
	fly->ladder = vc_ladder_find(steps);
	table->vc_rule = make_rule(&fly->groups, steps);
	if (fly->ladder->choice != VC_LADDER_NEVER) {
		if (route_table_add_alternatives(table, 1) < 0)
			return false;
	}
	return table->vc_rule != NULL && !fly->groups.arrays.failed;
}

static int dragonfly_tables(const struct route_graph *graph, uint8_t steps,
	struct route_table *table, struct error *error)
{
	struct fly fly = {.table = table};
	int result = topology_check_ports(graph->topology, TOPOLOGY_PORTS_RUN, "detours", error);

	if (result == 0)
		result = dragonfly_groups_make(&fly.groups, graph, error);
	if (result < 0)
		return result;
	result =
		allocate(&fly, steps) ? fill_all(&fly, error) : route_graph_no_memory(graph, error);
	dragonfly_groups_free(&fly.groups);
	return result;
}

/* clang-format off */
#define DRAGONFLY(id, steps, word, text)                                                   \
	static int id##_tables(const struct route_graph *graph,                            \
		const struct route_options *options, struct route_table *table,            \
		struct error *error)                                                       \
	{                                                                                  \
		(void)options;                                                             \
		return dragonfly_tables(graph, steps, table, error);                       \
	}                                                                                  \
	const struct route_algorithm route_##id = {.name = word,                           \
		.summary = text,                                                           \
		.deadlock_free = true,                                                     \
		.vc_classes = true,                                                        \
		.ladder = steps,                                                           \
		.tables = id##_tables}

DRAGONFLY(df_min, VC_STEPS_DF_MIN, "df-min",
	"Dragonfly, minimal: at most one link between groups; 2 VCs");
DRAGONFLY(df_valiant, VC_STEPS_DF_VALIANT, "df-valiant",
	"Dragonfly: minimal through a random group; 3 VCs");
DRAGONFLY(df_valiant_node, VC_STEPS_DF_NODE, "df-valiant-node",
	"Dragonfly: minimal through a random switch; 4 VCs");
DRAGONFLY(df_ugal_l, VC_STEPS_DF_UGAL_L, "df-ugal-l",
	"Dragonfly: df-min or df-valiant per packet, chosen from its first switch's queues; 3 VCs");
DRAGONFLY(df_ugal_l_node, VC_STEPS_DF_UGAL_NODE, "df-ugal-l-node",
	"Dragonfly: df-min or df-valiant-node per packet, as df-ugal-l; 4 VCs");
DRAGONFLY(df_ugal_g, VC_STEPS_DF_UGAL_G, "df-ugal-g",
	"Dragonfly: as df-ugal-l, from the queues of the global links (an oracle); 3 VCs");
DRAGONFLY(df_par, VC_STEPS_DF_PAR, "df-par",
	"Dragonfly: as df-ugal-l, but the second switch decides again; 4 VCs");
