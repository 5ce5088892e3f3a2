/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Published numbers compared with ours. A row's value is the mean over the instances of the
 * network, each compared with the same instance under the other algorithm. Two things are
 * checked: whether the mean of a factor or increase is within the tolerance of the published
 * one, and whether algorithms compared with the same one are in the published order. Claims,
 * also about an efficiency over time, are checked as well. Other absolute values are only shown.
 * A row without all of its instances fails, and so does everything if a trial failed. */

#include <stdio.h>

#include "published.h"
#include "trial.h"

struct comparison_row {
	const struct published_row *published;
	unsigned wanted;    /* instances of its network */
	unsigned instances; /* that could be compared; 0: none */
	double min, max, mean;
	double half_width; /* of the mean's 95 % interval over the instances; NAN: fewer than two */
	double ratio;      /* ours / published; of increases, of 1 + both */
	bool checked, within;
};

/* Two rows over the same algorithm with different published means, and ours in the other order. */
struct comparison_order {
	unsigned greater, less; /* rows, as published */
};

struct comparison {
	struct comparison_row *row;
	unsigned rows;
	struct comparison_order *wrong;
	unsigned wrongs, orders; /* not as published; looked at */
	unsigned means, near;    /* published means that are judged; within the tolerance */
	unsigned claims, held;   /* bounds, and readings of words; those that hold */
	unsigned missed;         /* rows checked and not within, or that lack an instance */
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

/* Output of a comparison as text, as Markdown and as JSON. */

/* A table: published, ours, ratio, and then the misses. */
void comparison_print(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out);
/* The same as tables in Markdown, with the version of Weft, for docs/results. */
void comparison_markdown(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out);
/* "reproduction/1"; NULL without memory. */
json_t *comparison_json(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials);
