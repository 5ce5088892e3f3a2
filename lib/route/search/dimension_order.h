/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The dimension-order path between two switches of a grid: the whole distance in dimension 0, then
 * in dimension 1, and so on. In each ring it takes the shorter direction, or the other direction if
 * the shorter one is broken. dor.c proves that such paths cannot deadlock; msp.c joins several of
 * them.
 *
 * In rings of even size, both paths to the opposite switch are equally long. A parity selects one:
 * the sum of the pair's parity, the position in the ring where the path starts, and one bit per
 * dimension. Each direction of a ring thus gets half of these paths. The bits are drawn from the
 * seed or, with ROUTE_TIES_PORT, are 1 in every second dimension. With equal or inverted bits, the
 * bit patterns (transpose, shuffle) put more load on some links.
 *
 * Constant once created; any thread may read it. */

#include <stdbool.h>

#include "queuing/vc_rule.h"
#include "route/route_path.h"
#include "route_grid.h"

struct dimension_order {
	struct route_grid grid;
	uint64_t turned; /* bit of each dimension */
	uint8_t *rank;   /* [hosts]: lowest bit of the host's index among the hosts of its switch */
};

/* Returns 0, -ENOMEM, or -EINVAL with error set if the graph is not a grid (route_grid_make()). */
int dimension_order_make(struct dimension_order *order, const struct route_graph *graph,
	const struct route_options *options, struct error *error);
void dimension_order_free(struct dimension_order *order);

/* Returns the parity of a pair of hosts: the sum of their ranks. */
static inline unsigned dimension_order_parity(
	const struct dimension_order *order, uint32_t source, uint32_t destination)
{
	return (unsigned)order->rank[source] + order->rank[destination];
}

/* Returns the host's row, below twice the number of switches. Hosts of a row have the same paths to
 * all other hosts. */
static inline uint32_t dimension_order_row(const struct dimension_order *order, uint32_t host)
{
	return 2 * order->grid.graph->host_switch[host] + order->rank[host];
}

/* Fills 'path'. Its length may exceed ROUTE_LINKS_MAX; further arcs are not stored. Returns false
 * if both directions of a ring are broken. */
bool dimension_order_find(const struct dimension_order *order, uint32_t at, uint32_t to,
	unsigned parity, struct route_path *path);

/* Returns true if no switch or link of the grid is missing. Every path then exists and has the
 * length of dimension_order_links(), at most '*longest'. */
bool dimension_order_is_whole(const struct dimension_order *order, unsigned *longest);
unsigned dimension_order_links(const struct dimension_order *order, uint32_t at, uint32_t to);

/* Returns true if at least one dimension has rings. */
bool dimension_order_has_rings(const struct dimension_order *order);

/* Creates a rule that assigns every inter-switch port to the ring of its dimension; with 'rows',
 * also in dimensions that do not wrap around. The datelines are the forward links from the last
 * position of a ring to position 0, and the reverse links. Returns NULL with errno ENOMEM if out of
 * memory. */
struct vc_rule *dimension_order_rule(
	const struct dimension_order *order, uint8_t classes, bool rows);
