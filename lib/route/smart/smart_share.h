/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * From the linear program's parts of the traffic to whole routes.
 */

#include "smart_paths.h"

/* 'count' gets for each path the number of its pair's routes that take it, near 'flow'; a pair's
 * counts add up to its routes. -ENOMEM. */
int smart_share(
	const struct smart_paths *paths, uint32_t arcs, const double *flow, uint32_t *count);
