/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The x axis of completion times: the values of the key along which the curves go. If all of them
 * are numbers of one kind, the axis is that of these numbers; otherwise they are words, at 0, 1 and
 * so on in the order of the sweep. A result that is of no sweep stands there with its name. */

#include "plot_curves.h"

/* Fills curves->tick, ->words and ->axis. 'along' has the key of each input, or NULL. -ENOMEM. */
int plot_ticks_make(struct plot_curves *curves, const struct plot_runs *runs,
	const char *const *along, struct fault *fault);
/* The place of a run; 'key' is that of its input. */
double plot_ticks_place(const struct plot_curves *curves, const struct plot_runs *runs,
	const struct plot_run *run, const char *key);
