/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The channel dependency graph (Dally and Seitz). A channel is one direction of a link, including
 * hosts' links: channel 2i leads from end a to end b of link i, channel 2i + 1 back. If routes use
 * VC classes (vc_rule.h), each channel has one node per class. A dependency means that some message
 * that arrived on a channel next uses an output port of the switch where the channel ends, so the
 * first channel can wait for the second. Without a cycle, deadlock is impossible.
 *
 * The dependencies of a node are a set of output ports, one to four words of 64; adding one costs
 * an OR. The rule determines the class at the far end. Where that class also depends on steps (enum
 * vc_turn), a node has a set for each turn. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arrays.h"
#include "queuing/vc_ladder.h"
#include "topo/topology.h"

#define CHANNEL_NONE UINT32_MAX

struct channel_graph {
	const struct topology *topology;
	const struct vc_rule *rule; /* NULL: one class */
	uint32_t channels, classes;
	uint32_t turns; /* sets of dependencies per node: VC_TURNS, the number of layers, or 1 */
	struct topology_port *from, *to; /* by channel */
	uint32_t words;                  /* words per set of ports */
	uint64_t *dependencies;          /* by node, turn and word: output ports used next */
	uint32_t ports;                  /* maximum per switch */
	uint32_t *switch_out;            /* [switch * ports + port], or CHANNEL_NONE */
	uint32_t *host_out;              /* by host, or CHANNEL_NONE */
	struct arrays arrays;            /* owns all arrays above */
};

/* Creates a graph without dependencies. The rule (may be NULL) must outlive the graph. Returns NULL
 * with errno ENOMEM if out of memory. */
struct channel_graph *channel_graph_create(
	const struct topology *topology, const struct vc_rule *rule);
void channel_graph_destroy(struct channel_graph *graph);

/* Returns the channel that leaves the switch through this port; CHANNEL_NONE: not connected. */
static inline uint32_t channel_graph_out(
	const struct channel_graph *graph, uint32_t at, unsigned port)
{
	return port < graph->ports ? graph->switch_out[at * graph->ports + port] : CHANNEL_NONE;
}

/* Converts channels to nodes and back. */
static inline uint32_t channel_graph_node(
	const struct channel_graph *graph, uint32_t channel, uint32_t class)
{
	return channel * graph->classes + class;
}

static inline uint32_t channel_graph_channel(const struct channel_graph *graph, uint32_t node)
{
	return graph->classes == 1 ? node : node / graph->classes;
}

/* Returns the set of dependencies of a node with this turn. */
static inline uint64_t *channel_graph_ports(
	const struct channel_graph *graph, uint32_t node, enum vc_turn turn)
{
	return &graph->dependencies[((size_t)node * graph->turns +
					    (turn < graph->turns ? turn : 0)) *
				    graph->words];
}

/* Returns the next node of a message that arrived on 'node' at a switch and leaves through 'port',
 * which must be connected. */
static inline uint32_t channel_graph_follow(
	const struct channel_graph *graph, uint32_t node, unsigned port, enum vc_turn turn)
{
	uint32_t channel = channel_graph_channel(graph, node);
	struct topology_port at = graph->to[channel];
	uint32_t out = graph->switch_out[at.device * graph->ports + port];

	if (graph->rule == NULL)
		return out;
	return channel_graph_node(graph, out,
		vc_rule_next(graph->rule, at.device, at.port,
			(uint8_t)(node - channel * graph->classes), port, turn));
}

/* Loops over the ports of a set. */
#define CHANNEL_GRAPH_EACH(graph, set, port)                                          \
	for (uint32_t word_ = 0; word_ < (graph)->words; word_++)                     \
		for (uint64_t left_ = (set)[word_], port;                             \
			left_ != 0 &&                                                 \
			(port = 64 * word_ + (unsigned)__builtin_ctzll(left_), true); \
			left_ &= left_ - 1)

/* Adds the dependency of a message that arrived on 'node' and leaves that switch through 'port'. */
static inline void channel_graph_depend(
	struct channel_graph *graph, uint32_t node, unsigned port, enum vc_turn turn)
{
	channel_graph_ports(graph, node, turn)[port / 64] |= (uint64_t)1 << port % 64;
}

/* Sets the ports, by turn, of a packet that arrived on 'node' at a switch whose tables have these
 * primary and alternative ports for the packet. With halves, the primary port leads to a drawn host
 * or to the destination. Packets that turn at the switch of another host then only add dependencies
 * of the second half on the first, none of which leads back. */
static inline void channel_graph_ways(const struct channel_graph *graph, uint32_t node,
	uint64_t primary, uint64_t alternatives, uint64_t ways[VC_TURNS])
{
	uint32_t channel = channel_graph_channel(graph, node);
	const struct topology_port *at = &graph->to[channel];
	const struct vc_rule *rule = graph->rule;
	const struct vc_ladder *ladder = rule == NULL ? NULL : vc_ladder_find(rule->steps);
	uint8_t class = (uint8_t)(node - channel * graph->classes);
	enum vc_ladder_move move;

	ways[VC_GO_ON] = ladder == NULL ? primary | alternatives : primary;
	ways[VC_STEP_AHEAD] = ways[VC_NEXT_STEP] = 0;
	if (ladder == NULL)
		return;
	if (ladder->halves)
		alternatives = primary;
	for (; primary != 0 && !ladder->halves; primary &= primary - 1)
		if (!vc_ladder_allows(rule, ladder, at->device, at->port, class,
			    (unsigned)__builtin_ctzll(primary), VC_GO_ON))
			ways[VC_GO_ON] &= ~(primary & -primary);
	move = vc_ladder_move(rule, ladder, at->device, at->port, class, &alternatives);
	ways[VC_NEXT_STEP] = vc_ladder_ports(rule, at->device, move, alternatives);
}

/* Returns true for a link between two switches. */
static inline bool channel_graph_inner(const struct channel_graph *graph, uint32_t channel)
{
	return graph->from[channel].kind == DEVICE_SWITCH &&
	       graph->to[channel].kind == DEVICE_SWITCH;
}

/* Finds a cycle, using strongly connected components. Returns 0 or -ENOMEM. Sets '*cycle' to its
 * nodes, which the caller frees, in dependency order (the last depends on the first), and
 * '*length'; NULL and 0 if there is no cycle. */
int channel_graph_find_cycle(const struct channel_graph *graph, uint32_t **cycle, uint32_t *length);
