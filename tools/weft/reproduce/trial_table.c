/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial_table.h"

#include <math.h>

#define AFTER 8 /* ms; the paper's "less than 8 ms" */
/* The same behind the detector's 5 ms, before which nobody may call an output a root. */
#define AFTER_CRT 13

static double unit_ns(const struct trial *trial)
{
	return (double)trial->experiment->unit_ps / PS_PER_NS;
}

static void print_number(double value, FILE *out)
{
	if (isnan(value))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %8.3f", value);
}

static void print_course(const struct trial *trial, FILE *out)
{
	const struct transient *transient = &trial->transient;
	double back = transient_back_ns(transient);

	print_number(transient->deliverable, out);
	print_number(transient_before(transient), out);
	print_number(transient_minimum(transient), out);
	print_number(transient_at(transient, AFTER * unit_ns(trial)), out);
	print_number(transient_at(transient, AFTER_CRT * unit_ns(trial)), out);
	print_number(transient_end(transient), out);
	if (isinf(back))
		fprintf(out, " %8s", "never");
	else
		fprintf(out, " %8.1f", back / unit_ns(trial));
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
		print_course(trial, out);
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

void trial_table_print(
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

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

json_t *trial_transient_json(const struct trial *trial)
{
	const struct transient *transient = &trial->transient;
	json_t *samples = json_array();

	for (unsigned i = 0; i < transient->samples; i++)
		json_array_append_new(
			samples, json_pack("{s:f,s:f}", "t_ns", transient->sample[i].t_ns,
					 "accepted", transient->sample[i].accepted));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "deliverable",
		number(transient->deliverable), "before", number(transient_before(transient)),
		"minimum", number(transient_minimum(transient)), "at_8ms",
		number(transient_at(transient, AFTER * unit_ns(trial))), "at_13ms",
		number(transient_at(transient, AFTER_CRT * unit_ns(trial))), "end",
		number(transient_end(transient)), "back_ms",
		number(transient_back_ns(transient) / unit_ns(trial)), "samples", samples);
}
