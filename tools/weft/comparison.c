/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PPM 1e6

static const struct trial *find(const struct trial *trial, unsigned trials,
	const struct published_row *row, unsigned algorithm, unsigned copy)
{
	for (unsigned i = 0; i < trials; i++)
		if (trial[i].network == row->network && trial[i].case_at == row->case_at &&
			trial[i].algorithm == algorithm && trial[i].copy == copy)
			return trial[i].stage == TRIAL_DONE ? &trial[i] : NULL;
	return NULL;
}

static bool between_switches(const json_t *link)
{
	const char *from = json_string_value(json_object_get(link, "from"));
	const char *to = json_string_value(json_object_get(link, "to"));

	return from != NULL && to != NULL && from[0] == 's' && to[0] == 's';
}

/* In per cent. */
static double link_value(const struct trial *trial, const struct published_row *row)
{
	double least = INFINITY, most = -INFINITY, below = 0, count = 0;
	const json_t *link;
	size_t i;

	json_array_foreach(trial->links, i, link)
	{
		double use = 100 * json_number_value(json_object_get(link, "utilisation"));

		if (!between_switches(link))
			continue;
		least = fmin(least, use);
		most = fmax(most, use);
		below += use < row->below;
		count++;
	}
	if (count == 0)
		return NAN;
	if (row->quantity == PUBLISHED_LINK_BELOW)
		return 100 * below / count;
	return row->quantity == PUBLISHED_LINK_MAX ? most : least;
}

/* NAN: this instance has not been measured. */
static double value_of(
	const struct trial *trial, unsigned trials, const struct published_row *row, unsigned copy)
{
	const struct trial *own = find(trial, trials, row, row->algorithm, copy);
	const struct trial *other;

	if (own == NULL)
		return NAN;
	if (row->quantity > PUBLISHED_VALUE)
		return link_value(own, row);
	if (row->quantity == PUBLISHED_VALUE)
		return own->value;
	other = find(trial, trials, row, row->over, copy);
	if (other == NULL)
		return NAN;
	return row->quantity == PUBLISHED_FACTOR ? own->value / other->value
						 : 100 * (own->value / other->value - 1);
}

static void fill(struct comparison_row *row, const struct experiment *experiment,
	const struct trial *trial, unsigned trials)
{
	const struct published_row *published = row->published;
	double sum = 0;

	row->min = INFINITY;
	row->max = -INFINITY;
	for (unsigned copy = 0; copy < experiment->networks.at[published->network].copies; copy++) {
		double value = value_of(trial, trials, published, copy);

		if (isnan(value))
			continue;
		row->instances++;
		sum += value;
		row->min = fmin(row->min, value);
		row->max = fmax(row->max, value);
	}
	row->mean = row->instances > 0 ? sum / row->instances : NAN;
	row->ratio = published->quantity == PUBLISHED_PERCENT
			     ? (100 + row->mean) / (100 + published->mean)
			     : row->mean / published->mean;
	row->judged = published->quantity <= PUBLISHED_PERCENT && !isnan(published->mean);
	row->within = fabs(row->ratio - 1) <= experiment->tolerance_ppm / PPM;
}

static bool comparable(const struct published_row *a, const struct published_row *b)
{
	return a->quantity == b->quantity && a->quantity <= PUBLISHED_PERCENT &&
	       a->case_at == b->case_at && a->network == b->network && a->over == b->over;
}

/* Factors of both kinds. */
static double factor(const struct published_row *row, double mean)
{
	return row->quantity == PUBLISHED_PERCENT ? 1 + mean / 100 : mean;
}

static void compare_order(
	struct comparison *comparison, const struct experiment *experiment, unsigned a, unsigned b)
{
	const struct comparison_row *one = &comparison->row[a], *two = &comparison->row[b];
	double first = factor(one->published, one->published->mean);
	double second = factor(two->published, two->published->mean);

	if (!comparable(one->published, two->published) || one->instances == 0 ||
		two->instances == 0 || !(first >= second * (1 + experiment->order_ppm / PPM)))
		return;
	comparison->orders++;
	if (one->mean < two->mean)
		comparison->wrong[comparison->wrongs++] = (struct comparison_order){a, b};
}

int comparison_make(struct comparison *comparison, const struct experiment *experiment,
	const struct published *published, const struct trial *trial, unsigned trials)
{
	unsigned rows = published->rows;

	*comparison = (struct comparison){.rows = rows,
		.row = calloc(rows, sizeof(*comparison->row)),
		.wrong = calloc((size_t)rows * rows, sizeof(*comparison->wrong))};
	if (comparison->row == NULL || comparison->wrong == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < rows; i++) {
		struct comparison_row *row = &comparison->row[i];

		row->published = &published->row[i];
		fill(row, experiment, trial, trials);
		comparison->missed += row->instances == 0 || (row->judged && !row->within);
	}
	for (unsigned a = 0; a < rows; a++)
		for (unsigned b = 0; b < rows; b++)
			if (a != b)
				compare_order(comparison, experiment, a, b);
	return 0;
}

void comparison_fini(struct comparison *comparison)
{
	free(comparison->row);
	free(comparison->wrong);
	comparison->row = NULL;
	comparison->wrong = NULL;
}
