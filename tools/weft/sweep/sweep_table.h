/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The tables of a sweep. A row is a flat JSON object: the varied keys, the seed, and the measures
 * of the point's result (docs/files.md lists them). What a result does not have is null in a row
 * and an empty cell in CSV. Time that a run took is left out: the tables of repeated runs are the
 * same where the runs are.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "sweep_plan.h"

/* A result that is whole: a document of a run that went to its end, or that a deadlock ended: that
 * is an answer, too, unless the run was 'cut_short' by us. NULL if the file is not. */
json_t *sweep_result_load(const char *path, bool cut_short);
/* Something lost, duplicated, out of order, or a deadlock. */
bool sweep_result_is_bad(const json_t *result);

/* The row of a point; a new reference, NULL without memory. */
json_t *sweep_row(const struct sweep_plan *plan, unsigned point, const json_t *result);

/* rows[i] belongs to point i; NULL: not there, and left out. */
void sweep_table_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out);
/* An object for each combination of the varied keys of which there are results: the same as a line
 * of sweep_means_write(), by name. A new reference. */
json_t *sweep_means(const struct sweep_plan *plan, json_t *const *rows);
/* A line for each combination of the varied keys: of measures the mean over the seeds and, as
 * NAME_ci95, the half width of the 95 % confidence interval; of counts the sum. */
void sweep_means_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out);
