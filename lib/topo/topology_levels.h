/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Levels of a tree: determines the stages of switches in a topology without them, such as a listing
 * of a real network. The leaves are the switches with hosts. The level of any other switch is its
 * distance from the nearest leaf, plus one. If that fails, switches with fewer than half as many
 * hosts as the fullest switch do not count as leaves, so a management host on a spine does not hide
 * the tree.
 *
 * The result is checked, so algorithms for fat trees can use it: links only join different levels,
 * and every switch with hosts reaches every other by going up and then down. */

#include "topology.h"

/* Sets the stages of a finished topology. If it is not a tree of two or more levels, sets no stage
 * and returns -EINVAL with the reason in 'why'. May return -ENOMEM. */
int topology_levels_find(struct topology *topology, struct error *why);

/* Returns true if any switch has a stage. */
bool topology_has_levels(const struct topology *topology);

/* Figures of one level. Links are counted per switch. */
struct topology_level {
	uint32_t switches, hosts;
	unsigned up_min, up_max, down_min, down_max;
};

/* Describes level i in level[i - 1]. Sets '*count' to the number of levels, 0 without stages. */
void topology_levels_describe(
	const struct topology *topology, struct topology_level level[UINT8_MAX], unsigned *count);

/* Basic figures of a network: degrees, hosts and distances. */

/* Distances cost O(switches * links) to compute and are omitted for larger networks. */
#define TOPOLOGY_SHAPE_SWITCHES_MAX 8192

struct topology_shape {
	/* Over all switches: links to other switches, and hosts. */
	unsigned degree_min, degree_max;
	unsigned hosts_min, hosts_max;
	/* Counted in links between switches, over ordered pairs of different switches. Unknown if
	 * there are no such pairs, if some are not connected, or if there are too many switches. */
	bool distances_known;
	unsigned diameter;
	double mean_distance;
};

/* Measures a finished topology. Returns 0 or -ENOMEM. */
int topology_shape(const struct topology *topology, struct topology_shape *shape);

/* Extends a range to include a value. 'first' tells whether it is the first one. */
static inline void topology_widen(unsigned value, bool first, unsigned *min, unsigned *max)
{
	if (first || value < *min)
		*min = value;
	if (first || value > *max)
		*max = value;
}
