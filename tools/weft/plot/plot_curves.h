/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs as curves. Runs that differ only in their seed become means with 95 % confidence
 * intervals. Runs of one sweep that differ in the key along which a curve goes (the load, for
 * latency against throughput) become its points. All others become curves of their own. */

#include "confidence.h"
#include "plot_page.h"
#include "plot_runs.h"

#define PLOT_CURVES_MAX 28u
#define PLOT_LABEL_MAX  128

struct plot_point {
	struct confidence x, y, y2;
	bool hollow;  /* some run is doubtful; for reproductions: it accepts less than offered */
	double along; /* number of the key along which the curve goes; 0: it has none */
};

struct plot_curve {
	char label[PLOT_LABEL_MAX]; /* "" if there is nothing to tell it from */
	struct plot_point *point;
	unsigned points;
	bool apart; /* points of words, between which nothing lies: no lines join them */
};

/* A place on the x axis with a name. */
struct plot_tick {
	const char *value; /* of a run, or its name; only while the runs are there */
	char text[PLOT_LABEL_MAX];
	double at;
};

struct plot_curves {
	enum plot_kind kind;
	bool flits, released;      /* as in struct plot_runs */
	enum plot_latency latency; /* the same */
	/* Accepted traffic as papers on congestion draw it: 1 is all that hosts' links can carry,
	 * and the axis ends there. */
	bool normalised;
	/* Loads in bits/us of a host: what its link carries; 0: in shares. */
	double bits_per_us;
	struct plot_curve *curve;
	unsigned curves;
	const char *hollow; /* the legend's name for such points; NULL: not known to be steady */
	bool intervals;     /* some point is a mean over seeds */
	bool real_clock;
	/* Bars: where the curves' x is 0, 1 and so on, and what is their y; the owner's. Maps have
	 * a quantity as well. */
	const char *const *group;
	unsigned groups;
	const char *quantity;
	/* Completion: the values along the x axis, and what they are of. */
	struct plot_tick *tick;
	unsigned ticks;
	bool words; /* the places are those of words, 0, 1 and so on; else numbers */
	char axis[PLOT_LABEL_MAX];
	char topology[64]; /* "" if they are not of one */
	struct plot_page page;
};

/* 'along' is a key, or NULL: the first one whose name ends in "load", else the last; only the
 * kinds with one point of each run go along one. -EINVAL: no such key, too many curves, or real
 * and virtual clocks where their measures differ. The caller sets curves->page afterwards. */
int plot_curves_make(struct plot_curves *curves, const struct plot_runs *runs, const char *along,
	struct fault *fault);
void plot_curves_fini(struct plot_curves *curves);
