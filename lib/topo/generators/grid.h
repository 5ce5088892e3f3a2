/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The common part of torus, torus-express, mesh and ring: switches at the points of a grid, switch
 * number = x0 + x1 * d0 + x2 * d0 * d1 + … In dimension i, port 2i leads to the next switch (+) and
 * port 2i + 1 to the previous one (-). The ports of express links follow those of all D dimensions:
 * port 2D + 2i leads two switches forward, port 2D + 2i + 1 two back. Host ports follow.
 *
 * No two links join the same pair of switches: a dimension of size 2 has one link, one of size 1
 * has none, and an express link exists only if it leads to a switch that is not already a
 * neighbour. The ports of omitted links, like those at the edge of a mesh, stay free, so that a
 * port number means the same direction at every switch.
 */

#include "generator.h"

struct grid {
	const uint32_t *dims;
	unsigned dim_count;
	uint64_t hosts_per_switch;
	bool around;  /* the last switch of a row is linked to the first */
	bool express; /* every switch is also linked to its second-order neighbours */
};

int grid_build(const struct generator_request *request, const struct grid *grid,
	struct topology **topology);
