/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What torus, torus-express, mesh and ring have in common: switches at the points of a grid, switch
 * number = x0 + x1 * d0 + x2 * d0 * d1 + … Of dimension i, port 2i leads to the next switch (+) and
 * port 2i + 1 to the one before (-). Express links come after those of all D dimensions: port
 * 2D + 2i leads two switches on, port 2D + 2i + 1 two back. Then come the hosts.
 *
 * No two links join the same pair of switches: a dimension of size 2 has one link, not two, one of
 * size 1 none, and express links exist only where they lead to a switch that is not a neighbour
 * anyway. The ports of links that are left out, like those at the rim of a mesh, stay free, so that
 * a port's number tells its direction everywhere.
 */

#include "generator.h"

struct grid {
	const uint32_t *dims;
	unsigned dim_count;
	uint64_t hosts_per_switch;
	bool around;  /* the last switch of a row is linked with the first */
	bool express; /* every switch is linked with its second-order neighbours too */
};

int grid_build(const struct generator_request *request, const struct grid *grid,
	struct topology **topology);
