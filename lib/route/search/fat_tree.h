/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Routing of a fat tree: for every switch and every switch with hosts, the ports that lead there
 * without going up after down. A switch that reaches a destination going down alone goes down; any
 * other goes up, to any neighbour above that reaches it in turn. Stages define which switches are
 * above, so degraded trees need no special case.
 *
 * Every path that takes one of the ports at each switch ends: on the way up the stages strictly
 * rise, a switch reached going down continues down, and on the way down they strictly fall. Their
 * dependency graph has no cycle for the same reason.
 *
 * Computed one row of a switch at a time, with one OR per port and destination switch; constant
 * afterwards, so any thread may read it.
 *
 * Compiled twice (base/port_set.h), as are the algorithms that use it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/rng.h"
#include "base/weft_error.h"
#include "dimension_order.h"
#include "route/route_graph.h"

#define FAT_TREE_STAGES 256

#ifdef PORT_SET_WIDE
#define fat_tree_make    fat_tree_wide_make
#define fat_tree_free    fat_tree_wide_free
#define fat_tree_measure fat_tree_wide_measure
#define mod_k_up         mod_k_wide_up
#define mod_k_down       mod_k_wide_down
#define route_dmodk      route_dmodk_wide
#define route_msp        route_msp_wide
#endif

struct fat_tree {
	const struct route_graph *graph;
	uint32_t columns; /* switches with hosts */
	uint32_t *column; /* by switch: its index among them, ROUTE_GRAPH_NONE if it has none */
	port_set *ports;  /* [switch * columns + column]; for the switch itself: the ports of its
			     hosts */
	port_set *up;     /* by switch: its ports that lead to higher stages */
	uint8_t *links; /* [switch * columns + column], after fat_tree_measure(): 1 + links to there
			 */
	uint32_t *rank; /* by host: its number or, if 'scattered', its place by switch and number */
	bool scattered; /* the hosts of some switch are not numbered consecutively */
	uint8_t *weight; /* by arc that leads up: its rate relative to the others of its switch */
	bool *mixed;     /* by switch: its weights differ */
	struct arrays arrays;
	/* By stage: K^(stage - 1) if all lower stages have K ports up; in general the product of
	 * the largest number of ports up in each of them, at most UINT32_MAX. */
	uint32_t divisor[FAT_TREE_STAGES];
};

/* Returns -EINVAL with error set if a switch has no stage, or a link joins switches of one stage;
 * -ENOMEM. */
int fat_tree_make(struct fat_tree *tree, const struct route_graph *graph, struct error *error);
void fat_tree_free(struct fat_tree *tree);

/* Fills 'links'. Returns false if a switch with hosts cannot reach another, a path has more than
 * 'max' links or a length that depends on its ports, or memory ran out. */
bool fat_tree_measure(struct fat_tree *tree, unsigned max);

static inline unsigned fat_tree_stage(const struct fat_tree *tree, uint32_t at)
{
	return tree->graph->topology->switch_at[at].stage;
}

/* The ports of switch 'at' towards the hosts of switch 'to', which has some. */
static inline port_set fat_tree_ports(const struct fat_tree *tree, uint32_t at, uint32_t to)
{
	return tree->ports[(size_t)at * tree->columns + tree->column[to]];
}

/* Elements of a route between hosts of these switches, after fat_tree_measure(). */
static inline unsigned fat_tree_elements(const struct fat_tree *tree, uint32_t from, uint32_t to)
{
	return tree->links[(size_t)from * tree->columns + tree->column[to]] + 1u;
}

/* The ports of D-mod-K in a fat tree (dmodk.c has the paper and the choices). */

/* The port that D-mod-K takes for a host from 'set', a non-empty set of up ports of switch 'at', or
 * the one 'shift' places after it. Where the rates of a switch's links up differ, ports count in
 * proportion to their rates. */
unsigned mod_k_up(
	const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host, uint32_t shift);

/* The port of 'set', which has only down ports: among parallel links, the one that the switch below
 * would take up for the host. */
unsigned mod_k_down(const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host);

/* Multi-step paths in a grid: source, IN1, IN2, destination, each step a dimension-order path. IN1
 * is at most 'radius' links from the source's switch, and IN2 from the destination's; either may be
 * missing. msp.c has the rule that chooses paths, and cites the papers.
 *
 * A search is scratch space for one thread. */

struct multi_step;

struct multi_step_path {
	struct route_path path;
	uint64_t steps; /* bit i: a step begins with arc i; never the first */
};

/* For pairs of switches of this grid, which outlives the search. Returns NULL with errno ENOMEM if
 * out of memory. */
struct multi_step *multi_step_create(const struct dimension_order *order, unsigned radius);
void multi_step_destroy(struct multi_step *search);

/* Up to 'wanted' paths between two different switches, no two of which share a link: the
 * dimension-order path, if there is one, then repeatedly the shortest of the rest; among equals one
 * with fewest steps, then one drawn with 'rng', or, for NULL, the first by the ports to IN1 and
 * IN2. Returns their number, or -ENOMEM. The first may be longer than ROUTE_LINKS_MAX, in which
 * case the caller must refuse it; the others fit into a frame. */
int multi_step_find(struct multi_step *search, uint32_t from, uint32_t to, unsigned parity,
	struct rng *rng, unsigned wanted, struct multi_step_path *found);
