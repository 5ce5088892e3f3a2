/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The labels of the depth-first tree (Sancho, Robles, Duato, CANPC 2000, cited as [San00] by the
 * thesis' section 1.2.2), for `dfs` and for the algorithms with in-transit buffers on top of it.
 * Everybody else goes through route_algorithm.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"
#include "route_graph.h"

struct up_down_labels;

/* Labels of the tree rooted at 'root'; where the topology is in several pieces, each piece without
 * the root takes its first switch. 'order' is the order in which switches enter the tree, 'level'
 * their place in it. -ENOMEM. On success the caller frees (up_down_labels_free). */
int depth_first_labels_make(const struct route_graph *graph, uint32_t root,
	struct up_down_labels *labels, struct fault *fault);

/* The labels alone, for route_algorithm.label. */
int depth_first_label(
	const struct route_graph *graph, uint32_t root, bool *up, struct fault *fault);
