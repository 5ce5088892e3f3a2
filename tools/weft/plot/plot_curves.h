/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs as curves. Runs that differ only in their seed become means with 95 % confidence
 * intervals. Runs of one sweep that differ in the key along which a curve goes (the load, for
 * latency against throughput) become its points. All others become curves of their own. */

#include "confidence.h"
#include "plot_runs.h"

#define PLOT_CURVES_MAX 28u
#define PLOT_LABEL_MAX  128

struct plot_point {
	struct confidence x, y, y2;
};

struct plot_curve {
	char label[PLOT_LABEL_MAX]; /* "" if there is nothing to tell it from */
	struct plot_point *point;
	unsigned points;
};

struct plot_curves {
	enum plot_kind kind;
	bool flits; /* as in struct plot_runs */
	/* Accepted traffic as papers on congestion draw it: 1 is all that hosts' links can carry,
	 * and the axis ends there. */
	bool normalised;
	struct plot_curve *curve;
	unsigned curves;
	bool intervals; /* some point is a mean over seeds */
	bool real_clock;
	/* Bars: where the curves' x is 0, 1 and so on, and what is their y; the owner's. */
	const char *const *group;
	unsigned groups;
	const char *quantity;
	char topology[64]; /* "" if they are not of one */
};

/* 'along' is a key, or NULL: the first one whose name ends in "load", else the last; only latency
 * against throughput goes along one. -EINVAL: no such key, too many curves, or real and virtual
 * clocks where their measures differ. */
int plot_curves_make(struct plot_curves *curves, const struct plot_runs *runs, const char *along,
	struct fault *fault);
void plot_curves_fini(struct plot_curves *curves);
