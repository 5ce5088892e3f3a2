/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Longer paths where they help: column generation for the linear program of smart_lp.h. Each arc
 * has a price there, what it would save if it could carry one more; a path that is cheaper than all
 * that its pair has is worth adding.
 */

#include "smart_lp.h"
#include "smart_paths.h"
#include "turns.h"

/* Adds for each pair the cheapest path over allowed turns if the program could use it; 'added' says
 * how many. Paths that would not fit into a frame are not added. -ENOMEM. */
int smart_detours_add(struct smart_paths *paths, const struct turns *turns,
	const struct smart_prices *prices, uint32_t *added);
