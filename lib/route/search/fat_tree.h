/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Routing of a fat tree: for every switch and every switch with hosts, the ports that lead there
 * without going up after down. A switch that reaches the destination by going only down goes down;
 * any other switch goes up, to each neighbour above that reaches the destination. Stages define
 * which switches are above, so degraded trees are not a special case.
 *
 * Every path through these ports ends: on the way up the stages strictly rise, a switch reached
 * going down continues down, and on the way down they strictly fall. For the same reason the
 * dependency graph has no cycle.
 *
 * Computed one row of a switch at a time, with one OR per port and destination switch; constant
 * afterwards, so any thread may read it.
 *
 * Compiled twice (base/port_set.h), like the algorithms that use it. */

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
	uint32_t columns; /* number of switches with hosts */
	uint32_t *column; /* by switch: column, or ROUTE_GRAPH_NONE without hosts */
	port_set
		*ports; /* [switch * columns + column]; for the switch itself: ports of its hosts */
	port_set *up;   /* by switch: ports that lead to higher stages */
	uint8_t *links; /* [switch * columns + column]: distance plus 1 (fat_tree_measure()) */
	uint32_t *rank; /* by host: its number; if 'scattered', its index by switch and number */
	bool scattered; /* some switch has hosts that are not numbered consecutively */
	uint8_t *weight; /* by up arc: its rate relative to the other up arcs of its switch */
	bool *mixed;     /* by switch: its weights are not all equal */
	struct arrays arrays;
	/* By stage: K^(stage - 1) if all lower stages have K ports up. In general, the product of
	 * the largest number of ports up in each of these stages, at most UINT32_MAX. */
	uint32_t divisor[FAT_TREE_STAGES];
};

/* Returns 0, -ENOMEM, or -EINVAL with error set if a switch has no stage, or a link joins switches
 * of the same stage. */
int fat_tree_make(struct fat_tree *tree, const struct route_graph *graph, struct error *error);
void fat_tree_free(struct fat_tree *tree);

/* Fills 'links'. Returns false if a switch with hosts cannot reach another, a path is longer than
 * 'max' links or has a length that depends on its ports, or memory is exhausted. */
bool fat_tree_measure(struct fat_tree *tree, unsigned max);

static inline unsigned fat_tree_stage(const struct fat_tree *tree, uint32_t at)
{
	return tree->graph->topology->switch_at[at].stage;
}

/* Returns the ports of switch 'at' towards the hosts of switch 'to', which must have hosts. */
static inline port_set fat_tree_ports(const struct fat_tree *tree, uint32_t at, uint32_t to)
{
	return tree->ports[(size_t)at * tree->columns + tree->column[to]];
}

/* Returns the number of elements of a route between hosts of these switches, after
 * fat_tree_measure(). */
static inline unsigned fat_tree_elements(const struct fat_tree *tree, uint32_t from, uint32_t to)
{
	return tree->links[(size_t)from * tree->columns + tree->column[to]] + 1u;
}

/* D-mod-K port selection in a fat tree. dmodk.c cites the paper and lists the variants. */

/* Returns the port that D-mod-K selects for a host from 'set', a non-empty set of up ports of
 * switch 'at', or the port 'shift' positions after it. If the up links of a switch have different
 * rates, ports are selected in proportion to their rates. */
unsigned mod_k_up(
	const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host, uint32_t shift);

/* Returns a port of 'set', which contains only down ports. Among parallel links, it is the port
 * that the switch below would use upwards for the host. */
unsigned mod_k_down(const struct fat_tree *tree, uint32_t at, port_set set, uint32_t host);

/* Multi-step paths in a grid: source, IN1, IN2, destination, where each step is a dimension-order
 * path. IN1 is at most 'radius' links from the source's switch, and IN2 from the destination's;
 * either may be absent. msp.c has the selection rule, and cites the papers.
 *
 * A search is scratch space for one thread. */

struct multi_step;

struct multi_step_path {
	struct route_path path;
	uint64_t steps; /* bit i: a step starts with arc i; never set for the first arc */
};

/* Creates a search for pairs of switches of this grid, which must outlive the search. Returns NULL
 * with errno ENOMEM if out of memory. */
struct multi_step *multi_step_create(const struct dimension_order *order, unsigned radius);
void multi_step_destroy(struct multi_step *search);

/* Finds up to 'wanted' paths between two different switches, no two of which share a link. The
 * first is the dimension-order path, if it exists; each further path is the shortest of the rest.
 * Ties are broken by the number of steps, then at random with 'rng' or, if NULL, by the ports to
 * IN1 and IN2. Returns the number of paths, or -ENOMEM. The first path may exceed ROUTE_LINKS_MAX,
 * and must then be refused by the caller; the others fit into a frame. */
int multi_step_find(struct multi_step *search, uint32_t from, uint32_t to, unsigned parity,
	struct rng *rng, unsigned wanted, struct multi_step_path *found);
