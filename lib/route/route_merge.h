/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Routes of several algorithms in one set. The selectors that control latency choose between a set
 * with few or no ITBs and one that uses them freely, both computed on the same tree. Both are in
 * the network together, so they are stored and verified together. */

#include "route_algorithm.h"

#define ROUTE_MERGE_MAX 4

/* Finds the algorithms of a text such as "ud" or "ud+ud-itb". Returns their number and stores them
 * in 'algorithms'; -ENOENT with the unknown part in 'unknown' (ROUTE_LABEL_MAX bytes); -E2BIG. */
int route_merge_find(const char *names, const struct route_algorithm *algorithms[ROUTE_MERGE_MAX],
	char *unknown);

/* Like route_compute() for several algorithms with the same options. Each pair has the routes of
 * the first algorithm, then the additional routes of the others; options->alternatives applies to
 * each. The origin names all, joined by '+'. Also -EINVAL if a pair would have more than
 * ROUTE_ALTERNATIVES_MAX routes, or VC rules differ. route_set_parts() returns the algorithms of a
 * route. */
struct route_set *route_merge_compute(const struct topology *topology,
	const struct route_algorithm *const *algorithms, unsigned count,
	const struct route_options *options, int *result, struct error *error);
