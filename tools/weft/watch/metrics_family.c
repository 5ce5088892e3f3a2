/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "metrics_text.h"

#include <math.h>

static void print_escaped(const char *text, bool quotes, FILE *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || (*text == '"' && quotes))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* The older format calls the family of a counter as its samples. */
static void print_name(
	const struct metrics_out *to, const struct metrics_family *family, bool of_sample)
{
	fprintf(to->out, "%s%s", family->name,
		!family->gauge && (of_sample || !to->openmetrics) ? "_total" : "");
}

void metrics_begin(const struct metrics_out *to, const struct metrics_family *family)
{
	fputs("# HELP ", to->out);
	print_name(to, family, false);
	fputc(' ', to->out);
	print_escaped(family->help, to->openmetrics, to->out);
	fputs("\n# TYPE ", to->out);
	print_name(to, family, false);
	fputs(family->gauge ? " gauge\n" : " counter\n", to->out);
	if (to->openmetrics && family->unit[0] != '\0') {
		fputs("# UNIT ", to->out);
		print_name(to, family, false);
		fprintf(to->out, " %s\n", family->unit);
	}
}

void metrics_sample(const struct metrics_out *to, const struct metrics_family *family,
	const struct metrics_label *labels, double value)
{
	print_name(to, family, true);
	fputs("{lab=\"", to->out);
	print_escaped(to->lab, true, to->out);
	for (; labels->name != NULL; labels++) {
		fprintf(to->out, "\",%s=\"", labels->name);
		print_escaped(labels->value, true, to->out);
	}
	/* Whole numbers as such. */
	fprintf(to->out, value == floor(value) && fabs(value) < 1e15 ? "\"} %.0f\n" : "\"} %.9g\n",
		value);
}
