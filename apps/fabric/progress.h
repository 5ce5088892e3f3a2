/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How far a run on the virtual clock is: one line on a terminal, written over again. */

#include <stdbool.h>
#include <stdint.h>

struct progress {
	double started, told;
	bool shown;
};

void progress_begin(struct progress *progress);

/* Nothing, unless half a second has gone since it told something. 'done' of 'whole': in the unit
 * that is a 1/'scale' of it. */
void progress_tell(struct progress *progress, uint64_t done, uint64_t whole, double scale,
	const char *unit, uint64_t packet_hops);

/* Wipes the line. */
void progress_end(const struct progress *progress);
