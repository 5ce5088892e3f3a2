/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Chooses the root switch of a tree. The root has more effect than anything else that the thesis
 * leaves open, so the choice is explicit and stored with the routes. */

#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"

enum route_root_choice {
	/* The switch whose labels give the shortest legal paths, summed over all pairs of hosts;
	   the first if several are equal. Tries every switch: switches^2 x links steps. */
	ROUTE_ROOT_BEST,
	/* The switch with the smallest distance to its farthest switch, then the smallest sum of
	   distances; the first if several are equal. */
	ROUTE_ROOT_CENTRE,
	ROUTE_ROOT_RANDOM, /* drawn from the seed */
	/* The default. In a topology with levels, the leaf with the smallest sum of distances,
	   because a root on a higher level would leave the other switches of that level without
	   traffic. Otherwise the first switch of the topology. */
	ROUTE_ROOT_DEFAULT,
};

/* Finds the root that a text names: a switch, "best", "centre" or "random"; NULL or "" means the
 * default. 'algorithm' must have labels. Returns 0, -ENOMEM, or -EINVAL with an error that states
 * the expected values, but no position. */
int route_root_find(const struct topology *topology, const struct route_algorithm *algorithm,
	const char *text, uint64_t seed, uint32_t *root, struct error *error);

/* Sets '*root'. Only RANDOM may choose a switch that reaches fewer switches than others.
 * 'algorithm' must have labels. Returns 0, -ENOMEM, or -EINVAL if the topology has no switch. */
int route_root_choose(const struct topology *topology, const struct route_algorithm *algorithm,
	enum route_root_choice choice, uint64_t seed, uint32_t *root, struct error *error);

/* Unique random ranks of the switches, with which section 3.2.3 of the thesis places ITBs.
 *
 * The thesis does not consider switches without hosts. Here they rank below all others, and
 * connected groups of them are ranked breadth first from one of their switches. A route therefore
 * never needs to pass a switch without hosts that outranks the switches before and after it: it
 * goes down into such a group, down within the group to the first switch, up again, and up when it
 * leaves. */

/* Returns the ranks 0 to switches - 1, drawn from 'seed', which the caller frees; NULL with errno
 * ENOMEM if out of memory. */
uint32_t *switch_rank_make(const struct route_graph *graph, uint64_t seed);
