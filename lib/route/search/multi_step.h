/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Multi-step paths in a grid: source, IN1, IN2, destination, each step a dimension-order path. IN1
 * is at most 'radius' links from the source's switch, and IN2 from the destination's; either may be
 * missing. msp.c has the rule that chooses paths, and cites the papers.
 *
 * A search is scratch space for one thread. */

#include <stdint.h>

#include "base/rng.h"
#include "dimension_order.h"

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
