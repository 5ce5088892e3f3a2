/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Published numbers beside ours. A row's own value is the mean over the instances of the network,
 * each compared with the same instance under the other algorithm. Two things are judged: whether a
 * factor's or increase's mean is near the published one, and whether algorithms compared with the
 * same one are in the published order. Of an efficiency over time, what is claimed is judged as
 * well. Other absolute values are shown and not judged, unless the row is a claim. A row is not met
 * if it lacks any of its instances, and nothing is good where a trial failed.
 */

#include "published.h"
#include "trial.h"

struct comparison_row {
	const struct published_row *published;
	unsigned wanted;    /* instances of its network */
	unsigned instances; /* that could be compared; 0: none */
	double min, max, mean;
	double half_width; /* of the mean's 95 % interval over the instances; NAN: fewer than two */
	double ratio;      /* ours / published; of increases, of 1 + both */
	bool judged, within;
};

/* Two rows over the same algorithm whose published means are apart, and ours the other way. */
struct comparison_order {
	unsigned greater, less; /* rows, as published */
};

struct comparison {
	struct comparison_row *row;
	unsigned rows;
	struct comparison_order *wrong;
	unsigned wrongs, orders; /* not as published; looked at */
	unsigned missed;         /* rows judged and not within, or that lack an instance */
	unsigned failed;         /* trials, whether a row wants them or not */
};

/* 0 or -ENOMEM; comparison_fini() in any case. 'published' must last. */
int comparison_make(struct comparison *comparison, const struct experiment *experiment,
	const struct published *published, const struct trial *trial, unsigned trials);
void comparison_fini(struct comparison *comparison);
/* Whether all of a row's instances could be compared. */
static inline bool comparison_is_whole(const struct comparison_row *row)
{
	return row->instances == row->wanted;
}
static inline bool comparison_good(const struct comparison *comparison)
{
	return comparison->missed == 0 && comparison->wrongs == 0 && comparison->failed == 0;
}
