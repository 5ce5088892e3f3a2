/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "confidence.h"

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

/* In per cent. */
static double link_value(const struct trial *trial, const struct published_row *row)
{
	double min = INFINITY, max = -INFINITY, below = 0, above = 0, count = 0;
	const json_t *link;
	size_t i;

	json_array_foreach(trial->links, i, link)
	{
		double use = 100 * trial_link_value(trial, link);

		if (!trial_link_counts(link))
			continue;
		min = fmin(min, use);
		max = fmax(max, use);
		below += use < row->limit;
		above += use > row->limit;
		count++;
	}
	if (count == 0)
		return NAN;
	if (row->quantity == PUBLISHED_LINK_BELOW)
		return 100 * below / count;
	if (row->quantity == PUBLISHED_LINK_ABOVE)
		return 100 * above / count;
	return row->quantity == PUBLISHED_LINK_MAX ? max : min;
}

static double own_value(const struct trial *trial, const struct published_row *row)
{
	const struct transient *transient = &trial->transient;
	double unit_ns = (double)trial->experiment->unit_ps / PS_PER_NS;

	switch (row->quantity) {
	case PUBLISHED_BEFORE:
		return transient_before(transient);
	case PUBLISHED_MINIMUM:
		return transient_minimum(transient);
	case PUBLISHED_AT:
		return transient_at(transient, row->limit * unit_ns);
	case PUBLISHED_END:
		return transient_end(transient);
	case PUBLISHED_BACK:
		return transient_back_ns(transient) / unit_ns;
	case PUBLISHED_AFTER:
		return settling_deviation(&trial->settling, row->limit / 1000.0);
	case PUBLISHED_TRAFFIC_INTERVAL:
		return trial->points > 0 ? trial->point[trial->points - 1].traffic : NAN;
	default:
		return trial->value;
	}
}

/* NAN: this instance has not been measured. */
static double value_of(
	const struct trial *trial, unsigned trials, const struct published_row *row, unsigned copy)
{
	const struct trial *own = find(trial, trials, row, row->algorithm, copy);
	struct published_row before = *row;
	const struct trial *other;
	double ratio;

	if (own == NULL)
		return NAN;
	if (published_is_link(row))
		return link_value(own, row);
	if (!row->has_over)
		return own_value(own, row);
	if (row->quantity == PUBLISHED_SLOWDOWN)
		before.case_at = row->over;
	other = find(trial, trials, &before,
		row->quantity == PUBLISHED_SLOWDOWN ? row->algorithm : row->over, copy);
	if (other == NULL)
		return NAN;
	ratio = own_value(own, row) / own_value(other, row);
	return row->quantity == PUBLISHED_PERCENT ? 100 * (ratio - 1) : ratio;
}

/* The reference value: the mean, or for a claim its limit. */
static double reference(const struct published_row *row)
{
	if (!isnan(row->mean))
		return row->mean;
	return isnan(row->min) ? row->max : row->min;
}

/* The row's value is the interval of its mean, not the mean. */
static void become_interval(struct comparison_row *row)
{
	row->mean = 100 * 2 * row->half_width / row->mean;
	row->min = row->max = row->half_width = NAN;
}

static void fill(struct comparison_row *row, const struct experiment *experiment,
	const struct trial *trial, unsigned trials)
{
	const struct published_row *published = row->published;
	double values[EXPERIMENT_COPIES], sum = 0;

	row->min = INFINITY;
	row->max = -INFINITY;
	row->wanted = experiment->networks.at[published->network].copies;
	for (unsigned copy = 0; copy < row->wanted; copy++) {
		double value = value_of(trial, trials, published, copy);

		if (isnan(value))
			continue;
		values[row->instances++] = value;
		sum += value;
		row->min = fmin(row->min, value);
		row->max = fmax(row->max, value);
	}
	row->mean = row->instances > 0 ? sum / row->instances : NAN;
	row->half_width = confidence_of(values, row->instances).half_width;
	if (published_is_interval(published))
		become_interval(row);
	row->ratio = published->quantity == PUBLISHED_PERCENT
			     ? (100 + row->mean) / (100 + reference(published))
			     : row->mean / reference(published);
}

/* Whether a row of some instances is met. */
static bool is_within(const struct comparison_row *row, const struct experiment *experiment)
{
	const struct published_row *published = row->published;
	double tolerance = experiment->tolerance_ppm / PPM, slack = 0;

	if (!published_is_claim(published))
		return fabs(row->ratio - 1) <= tolerance;
	/* A claim of 'better' also holds for 'equal'; the links are those of another network. */
	if (published_is_relative(published))
		slack = experiment->order_ppm / PPM;
	else if (published_is_link(published))
		slack = tolerance;
	return !(row->mean < published->min * (1 - slack)) &&
	       !(row->mean > published->max * (1 + slack));
}

static void check_row(struct comparison_row *row, const struct experiment *experiment)
{
	const struct published_row *published = row->published;

	row->checked =
		published_is_claim(published) ||
		(!isnan(published->mean) && (published_is_relative(published) ||
						    published->quantity > PUBLISHED_LINK_ABOVE));
	row->within = comparison_is_whole(row) && is_within(row, experiment);
}

static void count_row(struct comparison *comparison, const struct comparison_row *row)
{
	if (!row->checked)
		return;
	if (published_is_number(row->published)) {
		comparison->means++;
		comparison->near += row->within;
	} else {
		comparison->claims++;
		comparison->held += row->within;
	}
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

	if (!comparable(one->published, two->published) || !comparison_is_whole(one) ||
		!comparison_is_whole(two) || !(first >= second * (1 + experiment->order_ppm / PPM)))
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
		check_row(row, experiment);
		count_row(comparison, row);
		comparison->missed += !comparison_is_whole(row) || (row->checked && !row->within);
	}
	for (unsigned i = 0; i < trials; i++)
		comparison->failed += trial[i].stage == TRIAL_FAILED;
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
