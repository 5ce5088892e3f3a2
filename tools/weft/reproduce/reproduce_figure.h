/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A figure as curves of means with intervals. The Python package draws it (weft.plot.figure). */

#include <stdbool.h>

#include "confidence.h"
#include "fault.h"

#define FIGURE_LABEL_MAX 128

/* kind, its name, what its points are */
#define FIGURE_KINDS(X)                                                                         \
	X(LATENCY_THROUGHPUT, "latency-throughput") /* one point: accepted, total, network */   \
	X(EFFICIENCY_TIME, "efficiency-time") /* a point per sample: time, accepted, latency */ \
	X(THROUGHPUT_LOAD, "throughput-load") /* one point: offered, accepted */                \
	X(LINK_LOAD, "link-load")             /* a point per link: rank, utilisation */         \
	X(BLOCKED_TIME, "blocked-time")       /* a point per link: rank, blocked */             \
	X(BARS, "bars")                       /* curves side by side in groups */               \
	X(MAPS, "maps") /* a grid of squares per curve: x, y, and y2 as the colour */           \
	X(LATENCY_LOAD, "latency-load") /* one point: offered, total latency */                 \
	X(LATENCY_TIME, "latency-time") /* a point per sample: time, latency */

enum figure_kind {
#define X(id, name) FIGURE_##id,
	FIGURE_KINDS(X)
#undef X
};

struct figure_point {
	struct confidence x, y, y2; /* times in ns, shares as fractions, or flits/ns/switch */
	bool hollow;                /* it accepts less than offered */
};

struct figure_curve {
	char label[FIGURE_LABEL_MAX];
	struct figure_point *point;
	unsigned points;
};

struct figure {
	enum figure_kind kind;
	/* Traffic in flits/ns/switch, and efficiency and throughput as papers on congestion draw
	 * them: 1 is all that hosts' links can carry. */
	bool normalised;
	double bits_per_us; /* loads in bits/us of a host: what its link carries; 0: in shares */
	struct figure_curve *curve;
	unsigned curves;
	bool intervals; /* some point is a mean over instances */
	/* Bars: where the curves' x is 0, 1 and so on, and what is their y; the owner's. Maps have
	 * a quantity as well. */
	const char *const *group;
	unsigned groups;
	const char *quantity;
	char network[64]; /* and the case */
};

/* Draws a PNG. The file appears complete or not at all. -EINVAL:
 * it cannot be opened; -EIO: this machine cannot draw it or write it. */
int figure_draw(const struct figure *figure, const char *output, struct fault *fault);
void figure_fini(struct figure *figure);
