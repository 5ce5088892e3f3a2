/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Numbers that a paper has printed, from a CSV file beside the experiment: a line of column names,
 * then rows of
 *
 *     quantity,case,network,algorithm,over,min,max,mean[,words]
 *
 * quantity: 'factor' (the algorithm's value over that of 'over', of each instance of the network),
 * 'percent' (the same as an increase), or 'value' (the algorithm's own; 'over' is empty), or for
 * links and blocked 'max', 'min', 'below-N' and 'above-N' (per cent; share of channels below or
 * above N per cent). Of an efficiency
 * over time (transient.h) 'before', 'minimum', 'at-N' (N ms after the hot spot began), 'end' and
 * 'back' (ms); with 'over', the algorithm's over the other's. 'slowdown': the algorithm's value
 * over that which it has in the case 'over'. 'after-N': of the mean latency so far, the greatest
 * deviation from that of the run after N thousandths of its messages, per cent (trial.h).
 * 'interval', 'traffic-interval': the 95 % interval of the mean over the instances, from end to
 * end, in per cent of the mean, of the value and of the accepted traffic. What is empty was not
 * printed; ours is shown all the same. Rows with a least or greatest value and no mean are bounds:
 * ours has to lie between the two. With 'words', what the paper says without a number, the numbers
 * are not the paper's but our reading of them; with '-' as words no paper says anything, and the
 * numbers are bounds of ours. '#' begins a comment line. */

#include <math.h>
#include <string.h>

#include "experiment.h"

#define PUBLISHED_WORDS 40

/* Identifier and name in the file; '%u': a number (published_row.limit). */
#define PUBLISHED_QUANTITIES(X)   \
	X(FACTOR, "factor")       \
	X(PERCENT, "percent")     \
	X(VALUE, "value")         \
	X(LINK_MAX, "max")        \
	X(LINK_MIN, "min")        \
	X(LINK_BELOW, "below-%u") \
	X(LINK_ABOVE, "above-%u") \
	X(BEFORE, "before")       \
	X(MINIMUM, "minimum")     \
	X(AT, "at-%u")            \
	X(END, "end")             \
	X(BACK, "back")           \
	X(SLOWDOWN, "slowdown")   \
	X(AFTER, "after-%u")      \
	X(INTERVAL, "interval")   \
	X(TRAFFIC_INTERVAL, "traffic-interval")

enum published_quantity {
#define X(id, name) PUBLISHED_##id,
	PUBLISHED_QUANTITIES(X)
#undef X
};

struct published_row {
	enum published_quantity quantity;
	unsigned limit; /* of PUBLISHED_LINK_BELOW, _ABOVE in per cent; of PUBLISHED_AT in ms; of
			   PUBLISHED_AFTER in thousandths */
	/* In the experiment; over: an algorithm, of a slowdown a case, or beyond the count. */
	unsigned case_at, network, algorithm, over;
	bool has_over;
	double min, max, mean;       /* NAN: not printed */
	char words[PUBLISHED_WORDS]; /* of the paper; "": the numbers are its own; "-": no paper's
				      */
};

/* Of an efficiency over time. */
static inline bool published_is_transient(const struct published_row *row)
{
	return row->quantity >= PUBLISHED_BEFORE && row->quantity <= PUBLISHED_BACK;
}

static inline bool published_is_link(const struct published_row *row)
{
	return row->quantity >= PUBLISHED_LINK_MAX && row->quantity <= PUBLISHED_LINK_ABOVE;
}

static inline bool published_is_interval(const struct published_row *row)
{
	return row->quantity == PUBLISHED_INTERVAL || row->quantity == PUBLISHED_TRAFFIC_INTERVAL;
}

/* Whether the row compares the algorithm with another. */
static inline bool published_is_relative(const struct published_row *row)
{
	return row->quantity <= PUBLISHED_PERCENT || (published_is_transient(row) && row->has_over);
}

/* Whether the numbers are not the paper's: our reading of its words, or bounds of ours. */
static inline bool published_is_reading(const struct published_row *row)
{
	return row->words[0] != '\0';
}

/* Bounds of ours for what no paper shows. */
static inline bool published_is_own(const struct published_row *row)
{
	return strcmp(row->words, "-") == 0;
}

/* A bound, without a number of its own. */
static inline bool published_is_claim(const struct published_row *row)
{
	return isnan(row->mean) && (!isnan(row->min) || !isnan(row->max));
}

/* Whether the paper prints a mean. */
static inline bool published_is_number(const struct published_row *row)
{
	return !isnan(row->mean) && !published_is_reading(row);
}

struct published {
	struct published_row *row;
	unsigned rows;
};

/* Leaves out rows whose network, case or algorithm the experiment does not have. -EINVAL,
 * -ENOENT, … and fault with the line. published_fini() in any case. */
int published_load(
	struct published *published, const struct experiment *experiment, struct fault *fault);
void published_fini(struct published *published);
