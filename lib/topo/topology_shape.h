/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Basic figures of a network: degrees, hosts, distances. */

#include "topology.h"

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

/* Measures a finished topology. 0 or -ENOMEM. */
int topology_shape(const struct topology *topology, struct topology_shape *shape);

/* Extends a range to include a value, the first one or a further one. */
static inline void topology_widen(unsigned value, bool first, unsigned *min, unsigned *max)
{
	if (first || value < *min)
		*min = value;
	if (first || value > *max)
		*max = value;
}
