/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Levels of a tree: finds the stages of switches in a topology that does not state them, such as
 * the listing of a real network. The leaves are the switches with hosts; the level of any other
 * switch is its distance from the nearest leaf, plus one. Where that fails, switches with fewer
 * than half as many hosts as the fullest switch do not count as leaves: a management host on a
 * spine must not hide the tree.
 *
 * The result is checked: links join different levels only, and every switch with hosts reaches
 * every other by going up and then down. So algorithms for fat trees work on it. */

#include "topology.h"

/* Sets the stages of a finished topology. Returns -EINVAL with the reason in 'why' if it is not a
 * tree of two or more levels; then no stage is set. May return -ENOMEM. */
int topology_levels_find(struct topology *topology, struct error *why);

/* True if any switch has a stage. */
bool topology_has_levels(const struct topology *topology);

/* One level. Links are counted per switch. */
struct topology_level {
	uint32_t switches, hosts;
	unsigned up_min, up_max, down_min, down_max;
};

/* Describes level i in level[i - 1]; '*count' is the number of levels, 0 without stages. */
void topology_levels_describe(
	const struct topology *topology, struct topology_level level[UINT8_MAX], unsigned *count);

/* Basic figures of a network: degrees, hosts, distances. */

/* Distances cost switches times links, so larger networks omit them. */
#define TOPOLOGY_SHAPE_SWITCHES_MAX 8192

struct topology_shape {
	/* Over all switches: their links to other switches, and their hosts. */
	unsigned degree_min, degree_max;
	unsigned hosts_min, hosts_max;
	/* In links between switches, over ordered pairs of different switches. False if there are
	 * no such pairs, some cannot reach each other, or there are too many switches. */
	bool distances_known;
	unsigned diameter;
	double mean_distance;
};

/* Measures a finished topology. Returns 0 or -ENOMEM. */
int topology_shape(const struct topology *topology, struct topology_shape *shape);

/* Extends a range to include a value, the first one or a further one. */
static inline void topology_widen(unsigned value, bool first, unsigned *min, unsigned *max)
{
	if (first || value < *min)
		*min = value;
	if (first || value > *max)
		*max = value;
}
