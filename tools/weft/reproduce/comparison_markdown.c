/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <string.h>

#include "comparison_cells.h"

static void print_curve_head(const struct trial *trial, FILE *out)
{
	unsigned columns = comparison_curve_columns(trial);
	char head[CELL];

	fputs("\n| |", out);
	for (unsigned i = 0; i < columns; i++) {
		comparison_curve_head(trial, i, head);
		fprintf(out, " %s |", head);
	}
	fputs("\n|---|", out);
	while (columns-- > 0)
		fputs("---|", out);
	fputc('\n', out);
}

static void print_curve(const struct trial *trial, FILE *out)
{
	char label[EXPERIMENT_TEXT], cell[CELL];

	trial_label(trial, label);
	fprintf(out, "| %s |", label);
	for (unsigned i = 0; i < comparison_curve_columns(trial); i++) {
		comparison_curve_cell(trial, i, cell);
		fprintf(out, " %s |", cell);
	}
	fputc('\n', out);
}

static bool same_curve(const struct trial *a, const struct trial *b)
{
	return a->network == b->network && a->case_at == b->case_at && a->algorithm == b->algorithm;
}

/* The mean over the instances of a curve, of which 'first' is one. */
static void print_mean(
	const struct trial *first, const struct trial *trial, unsigned trials, FILE *out)
{
	const struct experiment *experiment = first->experiment;
	const char *case_name = experiment->cases.at[first->case_at].name;
	const struct trial *of[EXPERIMENT_COPIES];
	unsigned count = 0, wanted = 0;
	char cell[CELL];

	for (unsigned i = 0; i < trials && count < EXPERIMENT_COPIES; i++) {
		bool same = same_curve(first, &trial[i]);

		wanted += same;
		if (same && trial[i].stage == TRIAL_DONE)
			of[count++] = &trial[i];
	}
	fprintf(out, "| %s, %s%s%s |", experiment->algorithms.at[first->algorithm].name,
		experiment->networks.at[first->network].name, case_name[0] != '\0' ? ", " : "",
		case_name);
	for (unsigned i = 0; i < comparison_curve_columns(first); i++) {
		comparison_mean_cell(of, count, wanted, i, cell);
		fprintf(out, " %s |", cell);
	}
	fputc('\n', out);
}

static bool has_earlier(const struct trial *trial, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (trial[i].stage == TRIAL_DONE && same_curve(&trial[i], &trial[at]))
			return true;
	return false;
}

static void print_curves(const struct trial *trial, unsigned trials, FILE *out)
{
	bool head = false;

	for (unsigned i = 0; i < trials; i++) {
		if (trial[i].stage != TRIAL_DONE)
			continue;
		if (!head)
			print_curve_head(&trial[i], out);
		head = true;
		if (!trial->experiment->means)
			print_curve(&trial[i], out);
		else if (!has_earlier(trial, i))
			print_mean(&trial[i], trial, trials, out);
	}
}

static void print_row(const struct comparison_row *row, const struct experiment *experiment,
	bool readings, FILE *out)
{
	struct comparison_cells cells;

	comparison_cells(row, experiment, &cells);
	fprintf(out, "| %s | %s | %s |", cells.network, cells.subject, cells.theirs);
	if (readings)
		fprintf(out, " %s |", cells.reading);
	fprintf(out, " %s%s%s | %s | %s |\n", cells.ours, cells.spread[0] != '\0' ? " ± " : "",
		cells.spread, cells.ratio, cells.match);
}

static void print_rows(
	const struct comparison *comparison, const struct experiment *experiment, FILE *out)
{
	bool readings = comparison_has_readings(comparison);
	char before[96] = "", now[96];

	for (unsigned i = 0; i < comparison->rows; i++) {
		if (comparison_is_wide(comparison, experiment, i))
			continue;
		comparison_quantity(comparison->row[i].published, experiment, now);
		if (strcmp(now, before) != 0)
			fprintf(out,
				"\n| %s | | published |%s ours | ratio | |\n|---|---|---|%s---|---|---|\n",
				now, readings ? " our reading |" : "", readings ? "---|" : "");
		strcpy(before, now);
		print_row(&comparison->row[i], experiment, readings, out);
	}
}

static void print_counts(const struct comparison *comparison, const struct experiment *experiment,
	unsigned trials, FILE *out)
{
	fputc('\n', out);
	comparison_counts(comparison, experiment, out);
	fprintf(out, "; %u of %u measurements failed.\n", comparison->failed, trials);
	for (unsigned i = 0; i < comparison->wrongs; i++) {
		fputs("Order: ", out);
		comparison_wrong(comparison, experiment, &comparison->wrong[i], out);
		fputs(".\n", out);
	}
}

void comparison_markdown(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out)
{
	fprintf(out, "%s, %s: %s (weft %s)\n", experiment->paper, experiment->place,
		experiment->title, WEFT_VERSION);
	comparison_extent(experiment, out);
	if (experiment_wants_all(experiment))
		print_curves(trial, trials, out);
	comparison_wide(comparison, experiment, out);
	print_rows(comparison, experiment, out);
	print_counts(comparison, experiment, trials, out);
}
