/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison_cells.h"

#include <math.h>
#include <string.h>

#include "confidence.h"

static const char *const quantities[] = {"factor of %s", "increase of %s, per cent", "%s",
	"greatest %s of a link, per cent", "least %s of a link, per cent",
	"links with a %s below %u %%, per cent", "links with a %s above %u %%, per cent",
	"efficiency before the hot spot", "least efficiency in the hot spot",
	"efficiency %u ms into the hot spot", "efficiency at the end of the hot spot",
	"time to recover, ms", "slowdown beside the other case",
	"mean latency after %u thousandths of the messages, away from the final one, per cent",
	"95 %% interval of the %s, per cent of the mean",
	"95 %% interval of the accepted traffic, per cent of the mean"};

static const char *value_unit(enum experiment_measure measure)
{
	static const char *const units[EXPERIMENT_MEASURE_COUNT] = {"productivity, flits/ns/switch",
		"latency, ns", "messages that wait at the host with most",
		"traffic, flits/ns/switch", "traffic, flits/ns/switch", "mean latency, ns",
		"efficiency of the run", "accepted at full load", "time of the schedule, ms"};

	return units[measure] != NULL ? units[measure] : experiment_measure_title(measure);
}

/* The kind of numbers of a group of rows. */
void comparison_quantity(
	const struct published_row *row, const struct experiment *experiment, char out[96])
{
	const char *what = row->quantity == PUBLISHED_VALUE
				   ? value_unit(experiment->measure)
				   : experiment_measure_name(experiment->measure);

	if (published_is_link(row))
		what = experiment->measure == EXPERIMENT_BLOCKED ? "blocked time" : "utilisation";
	if (row->quantity == PUBLISHED_AT || row->quantity == PUBLISHED_AFTER)
		snprintf(out, 96, quantities[row->quantity], row->limit);
	else if (published_is_link(row))
		snprintf(out, 96, quantities[row->quantity], what, row->limit);
	else
		snprintf(out, 96, quantities[row->quantity], what);
}

static const char *algorithm_name(const struct experiment *experiment, unsigned at)
{
	return experiment->algorithms.at[at].name;
}

void comparison_subject(
	const struct published_row *row, const struct experiment *experiment, char out[CELL * 3])
{
	const char *own = algorithm_name(experiment, row->algorithm);

	if (published_is_relative(row))
		snprintf(out, CELL * 3, "%s / %s", own, algorithm_name(experiment, row->over));
	else
		snprintf(out, CELL * 3, "%s", own);
}

/* Decimals of a bound: two, or of a value as many more, up to four, as its paper prints. */
static int bound_digits(enum published_quantity quantity, double bound)
{
	int digits = 2;

	if (quantity != PUBLISHED_VALUE)
		return digits;
	while (digits < 4 && fabs(bound * pow(10, digits) - round(bound * pow(10, digits))) > 1e-6)
		digits++;
	return digits;
}

/* "1.42 (1.27-1.56)". */
static void numbers(
	enum published_quantity quantity, double min, double max, double mean, char out[CELL])
{
	int digits = quantity != PUBLISHED_VALUE ? 2 : mean < 10 && mean != floor(mean) ? 4 : 0;

	if (isnan(mean) && !isnan(min) && !isnan(max))
		snprintf(out, CELL, "%.2f to %.2f", min, max);
	else if (isnan(mean) && !isnan(min))
		snprintf(out, CELL, "at least %.*f", bound_digits(quantity, min), min);
	else if (isnan(mean) && !isnan(max))
		snprintf(out, CELL, "at most %.*f", bound_digits(quantity, max), max);
	else if (isinf(mean))
		snprintf(out, CELL, "never");
	else if (isnan(mean))
		snprintf(out, CELL, "-");
	else if (isnan(min) || isnan(max) || isinf(min) ||
		 (quantity >= PUBLISHED_BEFORE && min == max))
		snprintf(out, CELL, "%.*f", digits, mean);
	else
		snprintf(out, CELL, "%.*f (%.*f..%.*f)", digits, mean, digits, min, digits, max);
}

static void describe_match(const struct comparison_row *row, char out[CELL])
{
	const char *text = "";

	if (row->instances == 0)
		text = "not measured";
	else if (row->checked && published_is_claim(row->published))
		text = row->within ? "holds" : "does not hold";
	else if (row->checked)
		text = row->within ? "near" : "apart";
	if (row->instances > 0 && !comparison_is_whole(row))
		snprintf(out, CELL, "%u of %u measured", row->instances, row->wanted);
	else
		snprintf(out, CELL, "%s", text);
}

void comparison_cells(const struct comparison_row *row, const struct experiment *experiment,
	struct comparison_cells *cells)
{
	const struct published_row *published = row->published;
	const char *name = experiment->cases.at[published->case_at].name;

	*cells = (struct comparison_cells){.ratio = "-"};
	comparison_subject(published, experiment, cells->subject);
	numbers(published->quantity, published->min, published->max, published->mean,
		cells->theirs);
	if (published_is_reading(published)) {
		strcpy(cells->reading, cells->theirs);
		snprintf(cells->theirs, sizeof(cells->theirs),
			published_is_own(published) ? "%s" : "'%s'", published->words);
	}
	numbers(published->quantity, row->instances > 1 ? row->min : NAN,
		row->instances > 1 ? row->max : NAN, row->mean, cells->ours);
	numbers(published->quantity, NAN, NAN, row->mean, cells->mean);
	if (row->instances > 0 && isfinite(row->ratio))
		snprintf(cells->ratio, sizeof(cells->ratio), "%.2f", row->ratio);
	if (published_is_relative(published) && isfinite(row->half_width))
		snprintf(cells->spread, sizeof(cells->spread), "%.2f", row->half_width);
	describe_match(row, cells->match);
	snprintf(cells->network, sizeof(cells->network), "%s%s%s",
		experiment->networks.at[published->network].name, name[0] != '\0' ? ", " : "",
		name);
}

void comparison_course(const struct trial *trial, double number[COURSE_NUMBERS])
{
	const struct transient *transient = &trial->transient;
	double unit_ns = comparison_unit_ns(trial->experiment);

	number[COURSE_DELIVERABLE] = transient->deliverable;
	number[COURSE_BEFORE] = transient_before(transient);
	number[COURSE_MINIMUM] = transient_minimum(transient);
	number[COURSE_AFTER] = transient_at(transient, AFTER * unit_ns);
	number[COURSE_AFTER_CRT] = transient_at(transient, AFTER_CRT * unit_ns);
	number[COURSE_END] = transient_end(transient);
	number[COURSE_BACK] = transient_back_ns(transient) / unit_ns;
}

unsigned comparison_curve_columns(const struct trial *trial)
{
	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		return COURSE_NUMBERS;
	case EXPERIMENT_THROUGHPUT:
		return trial->points;
	default:
		return 1;
	}
}

static void course_head(enum comparison_course column, char out[CELL])
{
	static const char *const heads[] = {
		[COURSE_DELIVERABLE] = "possible",
		[COURSE_BEFORE] = "before",
		[COURSE_MINIMUM] = "minimum",
		[COURSE_END] = "end",
		[COURSE_BACK] = "back, ms",
	};

	if (column == COURSE_AFTER || column == COURSE_AFTER_CRT)
		snprintf(out, CELL, "+%u ms", column == COURSE_AFTER ? AFTER : AFTER_CRT);
	else
		snprintf(out, CELL, "%s", heads[column]);
}

void comparison_curve_head(const struct trial *trial, unsigned column, char out[CELL])
{
	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		course_head(column, out);
		break;
	case EXPERIMENT_THROUGHPUT:
		snprintf(out, CELL, "%.0f %%", 100 * trial->point[column].load);
		break;
	default:
		snprintf(out, CELL, "%s",
			trial->experiment->measure == EXPERIMENT_COMPLETION
				? "time, ms"
				: experiment_measure_name(trial->experiment->measure));
	}
}

double comparison_curve_value(const struct trial *trial, unsigned column)
{
	double number[COURSE_NUMBERS];

	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		comparison_course(trial, number);
		return number[column];
	case EXPERIMENT_THROUGHPUT:
		return trial->point[column].accepted;
	default:
		return trial->value;
	}
}

/* Times to recover have a digit, shares three. */
static int digits_of(const struct experiment *experiment, unsigned column)
{
	return experiment->measure == EXPERIMENT_EFFICIENCY && column == COURSE_BACK ? 1 : 3;
}

void comparison_curve_cell(const struct trial *trial, unsigned column, char out[CELL])
{
	double value = comparison_curve_value(trial, column);

	if (isnan(value))
		snprintf(out, CELL, "-");
	else if (isinf(value))
		snprintf(out, CELL, "never");
	else
		snprintf(out, CELL, "%.*f", digits_of(trial->experiment, column), value);
}

void comparison_mean_cell(const struct trial *const *trial, unsigned trials, unsigned wanted,
	unsigned column, char out[CELL])
{
	int digits = digits_of(trial[0]->experiment, column);
	double value[EXPERIMENT_COPIES] = {0};
	struct confidence mean;
	unsigned finite = 0;

	for (unsigned i = 0; i < trials; i++) {
		double one = comparison_curve_value(trial[i], column);

		if (isfinite(one))
			value[finite++] = one;
	}
	mean = confidence_of(value, finite);
	if (finite == 0)
		comparison_curve_cell(trial[0], column, out);
	else if (finite < wanted)
		snprintf(out, CELL, "%.*f (%u of %u)", digits, mean.mean, finite, wanted);
	else if (isnan(mean.half_width))
		snprintf(out, CELL, "%.*f", digits, mean.mean);
	else
		snprintf(out, CELL, "%.*f ± %.*f", digits, mean.mean, digits, mean.half_width);
}

bool comparison_has_readings(const struct comparison *comparison)
{
	for (unsigned i = 0; i < comparison->rows; i++)
		if (published_is_reading(comparison->row[i].published))
			return true;
	return false;
}

static void latency_limit(const struct experiment *experiment, FILE *out)
{
	if (experiment->latency_limit_ps > 0)
		fprintf(out, "; saturated above a mean latency of %.4g us",
			(double)experiment->latency_limit_ps / PS_PER_US);
	else if (experiment->defined_latency_limit_ps > 0)
		fputs("; not saturated by any latency", out);
	if (experiment->latency_limit_ps != experiment->defined_latency_limit_ps)
		fprintf(out, " (the definition: %.4g us)",
			(double)experiment->defined_latency_limit_ps / PS_PER_US);
}

void comparison_extent(const struct experiment *experiment, FILE *out)
{
	if (experiment_counts_messages(experiment)) {
		fprintf(out, "Each run: %llu messages discarded, %llu measured",
			(unsigned long long)experiment->warmup_messages,
			(unsigned long long)experiment->messages);
		if (experiment->warmup_messages != experiment->defined_warmup ||
			experiment->messages != experiment->defined_messages)
			fprintf(out, " (the full run: %llu, %llu)",
				(unsigned long long)experiment->defined_warmup,
				(unsigned long long)experiment->defined_messages);
	}
	latency_limit(experiment, out);
	if (experiment->instances > 0)
		fprintf(out, "%s%u instances of each network",
			experiment_counts_messages(experiment) ? "; " : "", experiment->instances);
	if (experiment_counts_messages(experiment) || experiment->instances > 0)
		fputs(".\n", out);
}

void comparison_counts(
	const struct comparison *comparison, const struct experiment *experiment, FILE *out)
{
	double per_cent = experiment->tolerance_ppm / 1e4;

	if (comparison->means > 0)
		fprintf(out, "%u of %u published means within %.4g %%; ", comparison->near,
			comparison->means, per_cent);
	if (comparison->claims > 0)
		fprintf(out, "%u of %u bounds and readings hold; ", comparison->held,
			comparison->claims);
	if (comparison->means + comparison->claims > 0)
		fprintf(out,
			"%u of %u rows not measured or away from the published by more than "
			"%.4g %%; ",
			comparison->missed, comparison->rows, per_cent);
	else
		fprintf(out, "no bounds; %u of %u rows not measured; ", comparison->missed,
			comparison->rows);
	fprintf(out, "%u of %u orders not as published", comparison->wrongs, comparison->orders);
}

void comparison_wrong(const struct comparison *comparison, const struct experiment *experiment,
	const struct comparison_order *order, FILE *out)
{
	const struct comparison_row *greater = &comparison->row[order->greater];
	const struct comparison_row *less = &comparison->row[order->less];
	struct comparison_cells a, b;

	comparison_cells(greater, experiment, &a);
	comparison_cells(less, experiment, &b);
	fprintf(out, "%s is published above %s, here below (%s: %.2f, %.2f)", a.subject, b.subject,
		a.network, greater->mean, less->mean);
}
