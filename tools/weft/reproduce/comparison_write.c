/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <string.h>

#include "comparison_cells.h"

static void print_title(const struct experiment *experiment, FILE *out)
{
	switch (experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		fputs("efficiency over time, shares of the hosts' links", out);
		if (experiment->unit_ps != PS_PER_MS)
			fprintf(out, "; a ms stands for %.4g us",
				(double)experiment->unit_ps / PS_PER_US);
		fputc('\n', out);
		break;
	case EXPERIMENT_THROUGHPUT:
		fputs("accepted at each load, per cent of the hosts' links: share\n", out);
		break;
	case EXPERIMENT_COMPLETION:
		fputs("time of the schedule, ms\n", out);
		break;
	default:
		fprintf(out, "%s\n", experiment_measure_title(experiment->measure));
	}
}

/* Only a course has columns that need a name. */
static void print_curve_head(const struct trial *trial, FILE *out)
{
	char head[CELL];

	if (trial->experiment->measure != EXPERIMENT_EFFICIENCY)
		return;
	fprintf(out, "  %-48s", "");
	for (unsigned i = 0; i < comparison_curve_columns(trial); i++) {
		comparison_curve_head(trial, i, head);
		fprintf(out, " %8s", head);
	}
	fputc('\n', out);
}

/* Loads stand beside the shares: there may be more of them than a line has room for names. */
static void print_curve(const struct trial *trial, FILE *out)
{
	char label[EXPERIMENT_TEXT], cell[CELL];

	trial_label(trial, label);
	fprintf(out, "  %-48s", label);
	for (unsigned i = 0; i < comparison_curve_columns(trial); i++) {
		comparison_curve_cell(trial, i, cell);
		if (trial->experiment->measure == EXPERIMENT_THROUGHPUT)
			fprintf(out, " %4.0f:%s", 100 * trial->point[i].load, cell);
		else
			fprintf(out, " %8s", cell);
	}
	fputc('\n', out);
}

static void print_curves(
	const struct experiment *experiment, const struct trial *trial, unsigned trials, FILE *out)
{
	if (!experiment_wants_all(experiment))
		return;
	print_title(experiment, out);
	if (trials > 0)
		print_curve_head(&trial[0], out);
	for (unsigned i = 0; i < trials; i++)
		if (trial[i].stage == TRIAL_DONE)
			print_curve(&trial[i], out);
}

static void print_row(const struct comparison_row *row, const struct experiment *experiment,
	bool readings, FILE *out)
{
	struct comparison_cells cells;

	comparison_cells(row, experiment, &cells);
	fprintf(out, "  %-24s %-24s | %-22s |", cells.network, cells.subject, cells.theirs);
	if (readings)
		fprintf(out, " %-15s |", cells.reading);
	fprintf(out, " %-22s | %5s  %s%s%s\n", cells.ours, cells.ratio, cells.match,
		cells.spread[0] != '\0' ? " ours +-" : "", cells.spread);
}

/* Discards and deadlocks of the networks. */
static void print_troubles(const struct trial *trial, unsigned trials, FILE *out)
{
	for (unsigned i = 0; i < trials; i++) {
		uint64_t dropped = 0;
		bool deadlock = false;
		char label[EXPERIMENT_TEXT];

		for (unsigned p = 0; p < trial[i].points; p++) {
			dropped += trial[i].point[p].dropped;
			deadlock = deadlock || trial[i].point[p].deadlock;
		}
		trial_label(&trial[i], label);
		if (dropped > 0)
			fprintf(out, "  %s: %llu messages discarded, over all points\n", label,
				(unsigned long long)dropped);
		if (deadlock)
			fprintf(out, "  %s: deadlock\n", label);
		if (trial[i].stage == TRIAL_FAILED)
			fprintf(out, "  %s: %s\n", label, trial[i].fault.text);
	}
}

void comparison_print(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out)
{
	bool readings = comparison_has_readings(comparison);
	char before[96] = "", now[96];

	fprintf(out, "%s, %s: %s\n", experiment->paper, experiment->place, experiment->title);
	comparison_extent(experiment, out);
	print_curves(experiment, trial, trials, out);
	for (unsigned i = 0; i < comparison->rows; i++) {
		comparison_quantity(comparison->row[i].published, experiment, now);
		if (strcmp(now, before) != 0)
			fprintf(out, "%s\n  %-24s %-24s | %-22s |%s %-22s | ratio\n", now,
				"network", "algorithm", "published",
				readings ? " our reading     |" : "", "ours");
		strcpy(before, now);
		print_row(&comparison->row[i], experiment, readings, out);
	}
	print_troubles(trial, trials, out);
	if (comparison->failed > 0)
		fprintf(out, "%u of %u measurements failed\n", comparison->failed, trials);
	comparison_counts(comparison, experiment, out);
	fputc('\n', out);
	for (unsigned i = 0; i < comparison->wrongs; i++) {
		fputs("  order: ", out);
		comparison_wrong(comparison, experiment, &comparison->wrong[i], out);
		fputc('\n', out);
	}
}
