/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The linear program of smart-routing: how much of each pair's traffic takes which of its paths so
 * that the most loaded arc carries as little as possible. smart_lp.c is the only file that knows
 * the solver (COIN-OR Clp). The solver is deterministic, and so is the result.
 */

#include "smart_paths.h"

/* What the program pays at its optimum (dual values). */
struct smart_prices {
	double *arc;  /* by arc: for a pair of hosts that passes it */
	double *pair; /* by pair: for a pair of hosts on whatever path */
};

/* 'flow' gets for each path the pairs of hosts that it carries, not a whole number in general; a
 * pair's flows add up to routes * weight. 'prices' may be NULL. -ENOMEM; -EIO if the solver gives
 * up. */
int smart_lp_balance(const struct smart_paths *paths, uint32_t arcs, double *flow,
	struct smart_prices *prices, struct fault *fault);
