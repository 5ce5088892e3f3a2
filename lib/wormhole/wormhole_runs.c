/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wormhole_runs.h"

unsigned wormhole_runs_kept(unsigned delay)
{
	unsigned kept = 2;

	while (kept < delay / 2 + 3)
		kept *= 2;
	return kept;
}

uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t total = runs->run.before;

	for (unsigned i = 0; i <= runs->mask; i++) {
		const struct wormhole_run *run = &runs->earlier[(runs->last - i) & runs->mask];

		if (at >= run->start) {
			uint64_t emitted = run->before + (at - run->start) + 1;

			return emitted < total ? emitted : total;
		}
		total = run->before;
	}
	return total;
}

uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total)
{
	const struct wormhole_run *run = &runs->run;

	for (unsigned i = 0; i <= runs->mask && total <= run->before; i++)
		run = &runs->earlier[(runs->last - i) & runs->mask];
	return run->start + (total - run->before) - 1;
}

void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start)
{
	uint64_t length = runs->total - runs->run.before;

	runs->on = true;
	if (length > 0 && runs->run.start + length == start)
		return;
	if (length > 0) {
		runs->last = (uint8_t)((runs->last + 1) & runs->mask);
		runs->earlier[runs->last] = runs->run;
	}
	runs->run = (struct wormhole_run){start, runs->total};
}
