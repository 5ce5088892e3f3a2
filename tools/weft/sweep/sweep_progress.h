/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The progress of a sweep on standard error: on a terminal a line that is redrawn, with errors
 * above it; otherwise a line for each point. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "sweep_plan.h"

struct sweep_progress {
	FILE *out;
	bool terminal;
	unsigned points, had; /* in all; there before this sweep began */
	unsigned done;        /* with those that were there */
	unsigned failed, running;
	double started; /* seconds */
	double last_ended;
};

void sweep_progress_init(
	struct sweep_progress *progress, unsigned points, unsigned had, double now);
/* A point is done, with its result; 'seconds' it took. */
void sweep_progress_done(struct sweep_progress *progress, const char *label, const json_t *result,
	double seconds, double now);
void sweep_progress_failed(
	struct sweep_progress *progress, const char *label, const char *why, double now);
/* A point proves to be invalid: there is one less. */
void sweep_progress_skipped(
	struct sweep_progress *progress, const char *label, const char *why, double now);
/* Redraws the bar; does nothing without a terminal. */
void sweep_progress_draw(const struct sweep_progress *progress, double now);
/* Clears the bar. */
void sweep_progress_end(const struct sweep_progress *progress);

/* "[####....] 3/20 points, 2 running, 1 failed, 1:05 left" in 'width' columns. The time left is
 * estimated from the points so far, and is left out before the first one has ended. */
void sweep_progress_format(
	const struct sweep_progress *progress, double now, unsigned width, char *out, size_t size);
