/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The texts of a comparison's rows and of its curves, for the table on a terminal and the one in
 * Markdown. */

#include "comparison.h"

#define CELL 40
/* ms into a hot spot: the paper's "less than 8 ms", and the same after the detector's 5 ms, before
 * which no output can become a root. */
#define AFTER     8
#define AFTER_CRT 13

struct comparison_cells {
	char network[2 * CELL + 16]; /* and case */
	char subject[3 * CELL];      /* "UD_ITB / UD" */
	char theirs[CELL], reading[CELL];
	char ours[CELL];             /* "1.42 (1.27..1.56)" */
	char mean[CELL];             /* ours without the least and greatest */
	char ratio[16], match[CELL]; /* "near", "apart", "holds", ... */
	char spread[24];             /* half of the 95 % interval, or empty */
};

void comparison_cells(const struct comparison_row *row, const struct experiment *experiment,
	struct comparison_cells *cells);

/* The kind of numbers of a group of rows: "factor of productivity". */
void comparison_quantity(
	const struct published_row *row, const struct experiment *experiment, char out[96]);

/* "UD_ITB", "UD_ITB / UD". */
void comparison_subject(
	const struct published_row *row, const struct experiment *experiment, char out[3 * CELL]);

/* The course of a trial around its hot spot: shares of the hosts' links, NAN where there is no
 * sample, and the time to recover in the paper's ms, INFINITY for never. */
enum comparison_course {
	COURSE_DELIVERABLE,
	COURSE_BEFORE,
	COURSE_MINIMUM,
	COURSE_AFTER,
	COURSE_AFTER_CRT,
	COURSE_END,
	COURSE_BACK,
	COURSE_NUMBERS
};

void comparison_course(const struct trial *trial, double number[COURSE_NUMBERS]);

/* A trial's curve: the numbers of its course, or a share at each load, or a time. Trials of an
 * experiment that have ended have the same columns. */
unsigned comparison_curve_columns(const struct trial *trial);
/* "minimum", "5 %", "time, ms". */
void comparison_curve_head(const struct trial *trial, unsigned column, char out[CELL]);
/* "0.850"; "-": there is none. */
void comparison_curve_cell(const struct trial *trial, unsigned column, char out[CELL]);
/* The same over several instances: "0.850 ± 0.012"; "8.5 (3 of 4)" if not all of 'wanted', which
 * has those that failed, have the number. */
void comparison_mean_cell(const struct trial *const *trial, unsigned trials, unsigned wanted,
	unsigned column, char out[CELL]);
/* NAN: there is none; INFINITY: never. */
double comparison_curve_value(const struct trial *trial, unsigned column);

bool comparison_has_readings(const struct comparison *comparison);

/* A line with the messages of each run, beside those of the definition if they differ, and the
 * instances that were asked for; nothing if there is neither. */
void comparison_extent(const struct experiment *experiment, FILE *out);
/* "12 of 14 published means within 10 %; ... orders not as published", without an end of line. "no
 * bounds" if there is nothing to be away from. */
void comparison_counts(
	const struct comparison *comparison, const struct experiment *experiment, FILE *out);
/* A published order that is not ours: "A above B with NETWORK (ours 1.10, 1.12)". */
void comparison_wrong(const struct comparison *comparison, const struct experiment *experiment,
	const struct comparison_order *order, FILE *out);

/* From comparison_wide.c: rows of one subject on several networks in one line of a table. */

/* Whether the row stands in a wide table. */
bool comparison_is_wide(
	const struct comparison *comparison, const struct experiment *experiment, unsigned row);
/* All wide tables, and before them what their cells hold. */
void comparison_wide(
	const struct comparison *comparison, const struct experiment *experiment, FILE *out);

/* The paper's ms in ns. */
static inline double comparison_unit_ns(const struct experiment *experiment)
{
	return (double)experiment->unit_ps / PS_PER_NS;
}
