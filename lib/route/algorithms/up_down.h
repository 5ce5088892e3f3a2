/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The labels of the arcs, shared by the algorithms on a breadth-first tree: up_down.c,
 * up_down_tables.c, and the ITB algorithms. All other code uses route_algorithm.h. */

#include "route/route_algorithm.h"

struct up_down_labels {
	uint32_t *level; /* by switch: distance from the root of its component */
	uint32_t *order; /* switches in the order (level, number): up arcs lead to earlier ones */
	bool *up;        /* by arc */
	struct arrays arrays;
};

/* -ENOMEM. On success the caller frees. */
int up_down_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error);
void up_down_labels_free(struct up_down_labels *labels);
/* For code that creates labels: allocates them, with no level (UINT32_MAX) for any switch. Returns
 * false if out of memory; call up_down_labels_free() in any case. */
bool up_down_labels_init(const struct route_graph *graph, struct up_down_labels *labels);

/* Only the labels, for route_algorithm.label. */
int up_down_label(const struct route_graph *graph, uint32_t root, bool *up, struct error *error);

/* Destination tables by the two rules of up_down_tables.c, for any labels whose up arcs lead to
 * earlier switches of 'order' and finally to the first of the component. May return -ENOMEM. */
int up_down_tables_of_labels(const struct route_graph *graph, const struct up_down_labels *labels,
	struct route_table *table, struct error *error);
int up_down_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error);

/* Labels of the depth-first tree (Sancho, Robles, Duato, CANPC 2000, cited as [San00] in the
 * thesis' section 1.2.2) rooted at 'root'; in a disconnected topology, each component without the
 * root is rooted at its first switch. 'order' is the order in which switches enter the tree,
 * 'level' their place in it. May return -ENOMEM. On success the caller frees
 * (up_down_labels_free). */
int depth_first_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error);

/* Only the labels, for route_algorithm.label. */
int depth_first_label(
	const struct route_graph *graph, uint32_t root, bool *up, struct error *error);
