/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Families and samples of the text formats of Prometheus; used only by metrics_*.c. */

#include <stdbool.h>
#include <stdio.h>

struct metrics_out {
	FILE *out;
	bool openmetrics;
	const char *lab; /* label of all samples */
};

struct metrics_family {
	const char *name; /* without "_total" */
	const char *unit; /* "": none */
	bool gauge;
	const char *help;
};

/* A label; a list of them ends with a NULL name. */
struct metrics_label {
	const char *name, *value;
};

/* HELP, TYPE and UNIT. All samples of the family follow. */
void metrics_begin(const struct metrics_out *to, const struct metrics_family *family);
/* With the label "lab" and these. */
void metrics_sample(const struct metrics_out *to, const struct metrics_family *family,
	const struct metrics_label *labels, double value);
