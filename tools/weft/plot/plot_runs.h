/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The results of a plot: single ones and those of sweeps, each reduced to the numbers that the
 * kind of plot shows. The caller that loads them owns them. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

#define PLOT_WHERE_MAX  16u
#define PLOT_LABELS_MAX 32u

/* kind, its name, what it shows of a result */
#define PLOT_KINDS(X)                                                                         \
	X(LATENCY_THROUGHPUT, "latency-throughput") /* one point: accepted, total, network */ \
	X(EFFICIENCY_TIME, "efficiency-time") /* a point a sample: time, accepted, latency */ \
	X(THROUGHPUT_LOAD, "throughput-load") /* one point: offered, accepted */              \
	X(LINK_LOAD, "link-load")             /* a point a link: rank, utilisation */         \
	X(BLOCKED_TIME, "blocked-time")       /* a point a link: rank, blocked */             \
	X(LATENCY_CDF, "latency-cdf")         /* a point a step: its end, how many values */  \
	X(COMPLETION, "completion")           /* one point: 0, time of the schedule */

enum plot_kind {
#define X(id, name) PLOT_##id,
	PLOT_KINDS(X)
#undef X
		PLOT_KIND_COUNT,
	/* None of these is asked for by name. */
	PLOT_BARS,         /* curves side by side in groups */
	PLOT_MAPS,         /* a grid of squares for each curve: x, y, and y2 as the colour */
	PLOT_LATENCY_LOAD, /* one point: offered, total latency */
	PLOT_LATENCY_TIME  /* a point a sample: time, latency */
};

/* PLOT_KIND_COUNT for an unknown name. */
enum plot_kind plot_kind_find(const char *name);
/* "latency-throughput, efficiency-time or blocked-time": all of them, for messages. */
void plot_kind_list(char *out, size_t size);

/* Of the kinds that know two. */
enum plot_latency { PLOT_LATENCY_BOTH, PLOT_LATENCY_TOTAL, PLOT_LATENCY_NETWORK };

struct plot_value {
	double x, y, y2; /* times in ns, shares as fractions, or flits/ns/switch */
	bool doubtful;   /* the run is saturated, not steady, or too short to tell */
};

struct plot_run {
	unsigned input; /* of the command line, from 0 */
	json_t *vary;   /* varied keys and their values; NULL: no sweep */
	char topology[64];
	bool real_clock;
	struct plot_value *value;
	unsigned values;
};

struct plot_runs {
	enum plot_kind kind;
	bool flits;    /* accepted traffic in flits/ns/switch, for latency against throughput */
	bool released; /* by release in order, not by arrival */
	enum plot_latency latency; /* BOTH: total for latency-cdf */
	struct plot_run *run;
	unsigned runs;
	char **input; /* name of each input: that of a folder, or of a file without its end */
	unsigned inputs;
	const char *where[PLOT_WHERE_MAX]; /* KEY=VALUE; points of sweeps that have others are left
					      out */
	unsigned wheres;
	uint32_t varied;                    /* those whose key some sweep varies, by bit */
	const char *label[PLOT_LABELS_MAX]; /* KEY=VALUE=TEXT: what a legend says for a value */
	unsigned labels;
	uint32_t labelled; /* those whose value some run has, by bit */
};

/* The text of --label for this value of a key, or NULL: the text says nothing else. */
const char *plot_label_find(const struct plot_runs *runs, const char *key, const char *value);

/* Whether the first 'length' bytes of 'asked' name this key of a manifest: "traffic[0].load" and
 * "traffic.0.load" are one. */
bool plot_key_is(const char *asked, size_t length, const char *key);

/* Adds a sweep's folder or a result. Missing points are left out; a folder without any is
 * refused. -ENOENT, -EINVAL: no sweep, no result, or one without the values of this kind. */
int plot_runs_add(struct plot_runs *runs, const char *path, struct fault *fault);
/* After all are added: -EINVAL for a 'where' whose key none of the sweeps varies, a 'label' whose
 * value none of the runs has, and if no run has a value to draw. */
int plot_runs_check(const struct plot_runs *runs, struct fault *fault);
void plot_runs_fini(struct plot_runs *runs);
