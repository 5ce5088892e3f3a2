/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Several algorithms' routes in one set. The selectors that control latency choose
 * between a set with few ITBs or none and one that uses them freely, both computed on the same
 * tree; together they are what is in the network, so they are stored, and judged, together.
 */

#include "route_algorithm.h"

#define ROUTE_MERGE_MAX 4

/* Finds "ud" or "ud+ud-itb" among the algorithms: their number with them in 'algorithms', or
 * -ENOENT, with the part that is none in 'unknown' (of ROUTE_LABEL_MAX bytes); -E2BIG. */
int route_merge_find(const char *names, const struct route_algorithm *algorithms[ROUTE_MERGE_MAX],
	char *unknown);

/* As route_compute(), all with the same options. The routes of each pair are first the first
 * algorithm's, then what the next ones add to them; options->alternatives counts for each. The
 * origin names all, joined by '+'. -EINVAL also where a pair would have more than
 * ROUTE_ALTERNATIVES_MAX routes, or VC rules differ. Which algorithms have a route is told by
 * route_set_parts(). */
struct route_set *route_merge_compute(const struct topology *topology,
	const struct route_algorithm *const *algorithms, unsigned count,
	const struct route_options *options, int *result, struct fault *fault);
