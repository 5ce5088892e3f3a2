/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What torus, mesh and ring have in common: switches at the points of a grid, switch number =
 * x0 + x1 * d0 + x2 * d0 * d1 + … Of dimension i, port 2i leads to the next switch (+) and port
 * 2i + 1 to the one before (-); then come the hosts, port 2 * dimensions + j for the j-th. A
 * dimension of size 2 has one link, not two, around the same pair, and one of size 1 none; their
 * ports, like those at the rim of a mesh, stay free, so that a port's number tells its direction
 * everywhere.
 */

#include "generator.h"

/* 'around': the last switch of a row is linked with the first. */
int grid_build(const struct generator_request *request, const uint32_t *dims, unsigned dim_count,
	uint64_t hosts_per_switch, bool around, struct topology **topology);
