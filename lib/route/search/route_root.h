/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Chooses the switch at which a tree is rooted. The root matters more than anything else that the
 * thesis leaves open, so the choice is explicit and stored with the routes. */

#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"

enum route_root_choice {
	/* The switch whose labels give the shortest legal paths, summed over all pairs of hosts;
	   the first one if several are equal. Tries every switch: switches^2 x links steps. */
	ROUTE_ROOT_BEST,
	/* The switch with the smallest distance to its farthest switch, then the smallest sum of
	 * distances; the first one if several are equal. */
	ROUTE_ROOT_CENTRE,
	ROUTE_ROOT_RANDOM, /* drawn with the seed */
	/* The default. In a topology with levels, the leaf with the smallest sum of distances: with
	 * a root on a higher level, the other switches of that level carry nothing. Otherwise the
	 * first switch of the topology. */
	ROUTE_ROOT_DEFAULT,
};

/* Finds the root that a text names: a switch, "best", "centre" or "random"; NULL or "" means the
 * default. Returns -EINVAL with an error that tells what was expected but not where; -ENOMEM.
 * 'algorithm' has labels. */
int route_root_find(const struct topology *topology, const struct route_algorithm *algorithm,
	const char *text, uint64_t seed, uint32_t *root, struct error *error);

/* Returns 0 with the switch in '*root'. Only RANDOM may choose one that reaches fewer switches than
 * others. -ENOMEM; -EINVAL if the topology has no switch. 'algorithm' has labels. */
int route_root_choose(const struct topology *topology, const struct route_algorithm *algorithm,
	enum route_root_choice choice, uint64_t seed, uint32_t *root, struct error *error);

/* Unique random ranks of the switches, with which section 3.2.3 of the thesis places ITBs.
 *
 * Switches without hosts, which the thesis does not consider, rank below all others: connected
 * groups of them are ranked breadth first from one of their switches. So a route never needs to
 * pass a switch without hosts that outranks the ones before and after it: it goes down into such a
 * group, within the group down to the first switch and up again, and up when it leaves. */

/* The ranks 0 .. switches - 1 under 'seed'; the caller frees. Returns NULL with errno ENOMEM if out
 * of memory. */
uint32_t *switch_rank_make(const struct route_graph *graph, uint64_t seed);
