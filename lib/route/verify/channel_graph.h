/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The channel dependency graph (Dally and Seitz). A channel is one direction of a link, including
 * hosts' links: channel 2i leads from end a to end b of link i, channel 2i + 1 back. If routes use
 * VC classes (vc_rule.h), each channel is one node per class. A dependency means that some message
 * uses an output port of the switch where the channel ends right after it, so one can wait for the
 * other. Without a cycle no deadlock is possible.
 *
 * The dependencies of a node are a set of output ports, one to four words of 64; adding one costs
 * an OR. The class at the far end follows from the rule. Where it depends on steps too (enum
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
	uint32_t turns; /* sets of dependencies of a node: VC_TURNS, layers, or 1 without either */
	struct topology_port *from, *to; /* by channel */
	uint32_t words;                  /* words in a set of ports */
	uint64_t *dependencies; /* by node, turn and word: output ports used right after it */
	uint32_t ports;         /* maximum per switch */
	uint32_t *switch_out;   /* [switch * ports + port], or CHANNEL_NONE */
	uint32_t *host_out;     /* by host, or CHANNEL_NONE */
	struct arrays arrays;   /* all of these */
};

/* Creates a graph without dependencies. The rule (may be NULL) outlives it. Returns NULL with errno
 * ENOMEM if out of memory. */
struct channel_graph *channel_graph_create(
	const struct topology *topology, const struct vc_rule *rule);
void channel_graph_destroy(struct channel_graph *graph);

/* The channel that leaves the switch through this port; CHANNEL_NONE if nothing is connected there.
 */
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

/* The set of dependencies of a node with this turn. */
static inline uint64_t *channel_graph_ports(
	const struct channel_graph *graph, uint32_t node, enum vc_turn turn)
{
	return &graph->dependencies[((size_t)node * graph->turns +
					    (turn < graph->turns ? turn : 0)) *
				    graph->words];
}

/* The next node of a message that arrived on 'node' at a switch and leaves it by 'port', which must
 * be connected. */
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

/* A loop over the ports of a set. */
#define CHANNEL_GRAPH_EACH(graph, set, port)                                          \
	for (uint32_t word_ = 0; word_ < (graph)->words; word_++)                     \
		for (uint64_t left_ = (set)[word_], port;                             \
			left_ != 0 &&                                                 \
			(port = 64 * word_ + (unsigned)__builtin_ctzll(left_), true); \
			left_ &= left_ - 1)

/* Adds the dependency of a message that arrived on 'node' and leaves that switch by 'port'. */
static inline void channel_graph_depend(
	struct channel_graph *graph, uint32_t node, unsigned port, enum vc_turn turn)
{
	channel_graph_ports(graph, node, turn)[port / 64] |= (uint64_t)1 << port % 64;
}

/* The ports, by turn, of a packet that arrived on 'node' at a switch whose tables have these
 * primary and alternative ports for it. With halves the primary port leads to a drawn host or to
 * the destination; packets that turn at the switch of another host add only dependencies of the
 * second half on the first, of which none leads back. */
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

/* True for a link between two switches. */
static inline bool channel_graph_inner(const struct channel_graph *graph, uint32_t channel)
{
	return graph->from[channel].kind == DEVICE_SWITCH &&
	       graph->to[channel].kind == DEVICE_SWITCH;
}

/* Finds a cycle by strongly connected components. 0 with '*cycle' (nodes; the caller frees it; in
 * the order of the dependencies, the last depends on the first) and '*length'; length 0 and NULL if
 * there is none. May return -ENOMEM. */
int channel_graph_find_cycle(const struct channel_graph *graph, uint32_t **cycle, uint32_t *length);
