/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "progress.h"

#include <stdio.h>

#include "measure_window.h"

#define TELL_EACH_S 0.5

void progress_begin(struct progress *progress)
{
	*progress = (struct progress){.started = measure_wall_seconds()};
}

void progress_tell(struct progress *progress, uint64_t done, uint64_t whole, double scale,
	const char *unit, uint64_t packet_hops)
{
	double now = measure_wall_seconds(), gone = now - progress->started;

	if (now - progress->told < TELL_EACH_S || done == 0)
		return;
	progress->told = now;
	progress->shown = true;
	fprintf(stderr, "\r%5.1f %%  %.3f of %.3f %s  %.1f million packet-hops/s  %.0f s left   ",
		100 * (double)done / (double)whole, (double)done / scale, (double)whole / scale,
		unit, (double)packet_hops / gone / 1e6,
		gone * (double)(whole - done) / (double)done);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown)
		fprintf(stderr, "\r%*s\r", 78, "");
}
