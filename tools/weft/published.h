/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Numbers that a paper has printed, from a CSV file beside the experiment: a line of column names,
 * then rows of
 *
 *     quantity,case,network,algorithm,over,min,max,mean
 *
 * quantity: 'factor' (the algorithm's value over that of 'over', of each instance of the network),
 * 'percent' (the same as an increase), or 'value' (the algorithm's own; 'over' is empty), or for
 * links 'max', 'min' and 'below-N' (per cent; share of channels below N per cent). What is
 * empty was not printed; ours is shown all the same. '#' begins a comment line.
 */

#include "experiment.h"

enum published_quantity {
	PUBLISHED_FACTOR,
	PUBLISHED_PERCENT,
	PUBLISHED_VALUE,
	PUBLISHED_LINK_MAX,
	PUBLISHED_LINK_MIN,
	PUBLISHED_LINK_BELOW,
};

struct published_row {
	enum published_quantity quantity;
	unsigned below;                             /* per cent */
	unsigned case_at, network, algorithm, over; /* in the experiment; over: count if none */
	double min, max, mean;                      /* NAN: not printed */
};

struct published {
	struct published_row *row;
	unsigned rows;
};

/* Rows of networks, cases and algorithms that the experiment does not have, or no longer, are left
 * out. -EINVAL, -ENOENT, … and fault with the line. published_fini() in any case. */
int published_load(
	struct published *published, const struct experiment *experiment, struct fault *fault);
void published_fini(struct published *published);
