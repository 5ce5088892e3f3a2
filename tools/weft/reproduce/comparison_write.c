/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <math.h>
#include <string.h>

#include "comparison_cells.h"

static void print_number(double value, FILE *out)
{
	if (isnan(value))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %8.3f", value);
}

static void print_transient(const struct trial *trial, FILE *out)
{
	const struct transient *transient = &trial->transient;
	double back = transient_back_ns(transient);

	print_number(transient->deliverable, out);
	print_number(transient_before(transient), out);
	print_number(transient_minimum(transient), out);
	print_number(transient_at(transient, AFTER * comparison_unit_ns(trial->experiment)), out);
	print_number(
		transient_at(transient, AFTER_CRT * comparison_unit_ns(trial->experiment)), out);
	print_number(transient_end(transient), out);
	if (isinf(back))
		fprintf(out, " %8s", "never");
	else
		fprintf(out, " %8.1f", back / comparison_unit_ns(trial->experiment));
}

static void print_loads(const struct trial *trial, FILE *out)
{
	for (unsigned i = 0; i < trial->points; i++)
		fprintf(out, " %4.0f:%.3f", 100 * trial->point[i].load, trial->point[i].accepted);
}

static void print_value(const struct trial *trial, FILE *out)
{
	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		print_transient(trial, out);
		break;
	case EXPERIMENT_THROUGHPUT:
		print_loads(trial, out);
		break;
	default:
		print_number(trial->value, out);
	}
}

static void print_head(const struct experiment *experiment, FILE *out)
{
	switch (experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		fputs("efficiency over time, shares of the hosts' links", out);
		if (experiment->unit_ps != PS_PER_MS)
			fprintf(out, "; a ms stands for %.4g us",
				(double)experiment->unit_ps / PS_PER_US);
		fprintf(out, "\n  %-48s %8s %8s %8s %8s %8s %8s %8s\n", "", "possible", "before",
			"minimum", "+8 ms", "+13 ms", "end", "back, ms");
		break;
	case EXPERIMENT_THROUGHPUT:
		fputs("accepted at each load, per cent of the hosts' links: share\n", out);
		break;
	default:
		fputs("time of the schedule, ms\n", out);
	}
}

static void print_curves(
	const struct experiment *experiment, const struct trial *trial, unsigned trials, FILE *out)
{
	if (!experiment_wants_all(experiment))
		return;
	print_head(experiment, out);
	for (unsigned i = 0; i < trials; i++) {
		char label[EXPERIMENT_TEXT];

		if (trial[i].stage != TRIAL_DONE)
			continue;
		trial_label(&trial[i], label);
		fprintf(out, "  %-48s", label);
		print_value(&trial[i], out);
		fputc('\n', out);
	}
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
