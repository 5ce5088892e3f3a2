/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The tables of a sweep. A row is a flat JSON object: the varied keys, the seed, and the
 * measures of the point's result (docs/files.md lists them). A value that the result does not
 * have is null in a row and an empty cell in CSV. Run times are left out, so the tables of equal
 * runs are equal. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "sweep_plan.h"

/* A complete result: a document of a run that went to its end, or that ended in a deadlock,
 * which is a result, too, unless we have 'cut_short' the run. NULL and errno as result_file_load(),
 * EINVAL for a result that is not complete. */
json_t *sweep_result_load(const char *path, bool cut_short);
/* Something lost, duplicated, out of order, or a deadlock. */
bool sweep_result_is_bad(const json_t *result);
/* Nothing was measured, and it is not bad. */
bool sweep_result_is_empty(const json_t *result);

/* The row of a point; a new reference, NULL without memory. */
json_t *sweep_row(const struct sweep_plan *plan, unsigned point, const json_t *result);

/* rows[i] belongs to point i; NULL: no result, left out. */
void sweep_table_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out);
/* An object for each combination of the varied keys that has results, with the columns of
 * sweep_means_write() by name. A new reference. */
json_t *sweep_means(const struct sweep_plan *plan, json_t *const *rows);
/* A line for each combination of the varied keys: of measures the mean over the seeds and, as
 * NAME_ci95, the half width of the 95 % confidence interval; of counts the sum. */
void sweep_means_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out);
