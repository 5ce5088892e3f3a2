/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What every curve of an experiment has come to, a line each: of measures that are looked at as a
 * whole and not only where a paper prints a number. */

#include <stdio.h>

#include "trial.h"

/* Nothing for other measures. */
void trial_table_print(
	const struct experiment *experiment, const struct trial *trial, unsigned trials, FILE *out);
/* {"deliverable", "before", "minimum", "at_8ms", "at_13ms", "end", "back_ms", "samples"}; null
 * where there is no such sample, and as "back_ms" if it never was. Times are in the paper's ms
 * (experiment->unit_ps), but for those of the samples. */
json_t *trial_transient_json(const struct trial *trial);
