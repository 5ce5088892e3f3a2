/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Pictures of one case: the most used links as bars, and maps of a two-dimensional network. */

#include "plot_curves.h"
#include "trial.h"

#define REPRODUCE_LINKS 10u /* bars of links */

struct reproduce_names {
	char text[REPRODUCE_LINKS][PLOT_LABEL_MAX];
	const char *group[REPRODUCE_LINKS];
};

/* The use of the links that are used most under the first algorithm, with every algorithm; 'names'
 * must last as long as the curves. -ENOMEM. */
int reproduce_link_bars(struct plot_curves *curves, struct reproduce_names *names,
	const struct trial *trial, unsigned trials, unsigned network, unsigned case_at);

/* The mean waiting time of each switch at its place in the mesh or torus, in us: a curve for each
 * algorithm. None if the network has not two dimensions. 0 or -errno. */
int reproduce_map(struct plot_curves *curves, const struct trial *trial, unsigned trials,
	unsigned network, unsigned case_at);
