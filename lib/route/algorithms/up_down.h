/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Labels of the arcs, shared by the algorithms on a breadth-first tree: up_down.c, up_down_tables.c
 * and the ITB algorithms. All other code uses route_algorithm.h. */

#include "route/route_algorithm.h"

struct up_down_labels {
	uint32_t *level; /* by switch: distance from the root of its component */
	uint32_t *order; /* switches sorted by (level, number): up arcs lead to earlier switches */
	bool *up;        /* by arc */
	struct arrays arrays;
};

/* Computes the labels of the tree rooted at 'root', which the caller frees. Returns 0 or -ENOMEM.
 */
int up_down_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error);
void up_down_labels_free(struct up_down_labels *labels);
/* Allocates labels for the caller to fill in. Every level is initialised to UINT32_MAX (none).
 * Returns false if out of memory. Call up_down_labels_free() in either case. */
bool up_down_labels_init(const struct route_graph *graph, struct up_down_labels *labels);

/* Computes only 'up', for route_algorithm.label. */
int up_down_label(const struct route_graph *graph, uint32_t root, bool *up, struct error *error);

/* Computes destination tables with the two rules of up_down_tables.c. Accepts any labels whose up
 * arcs lead to earlier switches of 'order' and eventually to the first switch of the component.
 * Returns 0 or -ENOMEM. */
int up_down_tables_of_labels(const struct route_graph *graph, const struct up_down_labels *labels,
	struct route_table *table, struct error *error);
int up_down_tables(const struct route_graph *graph, const struct route_options *options,
	struct route_table *table, struct error *error);

/* Computes the labels of the depth-first tree (Sancho, Robles, Duato, CANPC 2000, cited as [San00]
 * in the thesis' section 1.2.2) rooted at 'root'. In a disconnected topology, each component
 * without the root is rooted at its first switch. 'order' is the order in which switches enter the
 * tree, 'level' their index in it. Returns 0, and the caller frees the labels
 * (up_down_labels_free), or -ENOMEM. */
int depth_first_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct error *error);

/* Computes only 'up', for route_algorithm.label. */
int depth_first_label(
	const struct route_graph *graph, uint32_t root, bool *up, struct error *error);
