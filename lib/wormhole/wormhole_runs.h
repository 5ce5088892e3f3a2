/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The history of a channel's sender, as runs: from the start cycle on one flit per cycle. It keeps
 * as many earlier runs as the far end, a link's delay behind, may still query. The last run may
 * start in the future.
 */

#include <stdbool.h>
#include <stdint.h>

struct wormhole_run {
	uint64_t start;  /* cycle */
	uint64_t before; /* flits of all runs before it */
};

struct wormhole_runs {
	struct wormhole_run run;      /* the last one */
	uint64_t total;               /* if it is not on: flits of all runs */
	bool on;                      /* has no end yet */
	uint8_t last, mask;           /* newest, and entries - 1, of: */
	struct wormhole_run *earlier; /* a ring; the owner's memory, zero at first */
};

/* Entries of 'earlier' for a link of 'delay' cycles: runs are at least a cycle apart. A power of
 * two, up to 256. */
unsigned wormhole_runs_kept(unsigned delay);

/* Flits emitted by the end of cycle 'at', at most a delay ago. */
uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at);

static inline uint64_t wormhole_runs_by(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t emitted;

	if (__builtin_expect(at < runs->run.start, 0))
		return wormhole_runs_back(runs, at);
	emitted = runs->run.before + (at - runs->run.start) + 1;
	return runs->on || emitted < runs->total ? emitted : runs->total;
}

/* Cycle in which flit number 'total' leaves (1 is the first), as far as the runs are known. */
uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total);

static inline uint64_t wormhole_runs_cycle(const struct wormhole_runs *runs, uint64_t total)
{
	if (__builtin_expect(total <= runs->run.before, 0))
		return wormhole_runs_cycle_back(runs, total);
	return runs->run.start + (total - runs->run.before) - 1;
}

/* Begins a run at 'start'; no run is on. */
void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start);

/* Ends the run: no flit leaves from cycle 'end' on. A run that would not have begun by then is
 * void. */
static inline void wormhole_runs_end(struct wormhole_runs *runs, uint64_t end)
{
	runs->on = false;
	runs->total = runs->run.before;
	if (end > runs->run.start)
		runs->total += end - runs->run.start;
}
