/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a channel's sender has emitted, as runs: from a cycle on one flit each cycle. Of earlier
 * runs it keeps so many as the far end, a link's delay behind, may still have to ask for.
 * The last run may lie ahead: its start is known before its time.
 */

#include <stdbool.h>
#include <stdint.h>

struct wormhole_run {
	uint64_t start;  /* cycle */
	uint64_t before; /* flits of all runs before it */
};

struct wormhole_runs {
	struct wormhole_run run;      /* the last */
	uint64_t total;               /* when it is not on: flits of all runs */
	bool on;                      /* has no end yet */
	uint8_t last, mask;           /* newest, and entries - 1, of: */
	struct wormhole_run *earlier; /* a ring; the owner's memory, zero at first */
};

/* Entries of 'earlier' for a link of so many cycles: runs are apart by a cycle or more. A power of
 * two, up to 256. */
unsigned wormhole_runs_kept(unsigned delay);

/* Flits emitted by the end of cycle 'at', which is not more than a delay ago. */
uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at);

static inline uint64_t wormhole_runs_by(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t emitted;

	if (__builtin_expect(at < runs->run.start, 0))
		return wormhole_runs_back(runs, at);
	emitted = runs->run.before + (at - runs->run.start) + 1;
	return runs->on || emitted < runs->total ? emitted : runs->total;
}

/* Cycle in which the flit number 'total' leaves (1 is the first), as far as the runs reach. */
uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total);

static inline uint64_t wormhole_runs_cycle(const struct wormhole_runs *runs, uint64_t total)
{
	if (__builtin_expect(total <= runs->run.before, 0))
		return wormhole_runs_cycle_back(runs, total);
	return runs->run.start + (total - runs->run.before) - 1;
}

/* From 'start' on; no run is on. */
void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start);

/* No flit leaves from cycle 'end' on; if that is not after its start the run does not take place.
 */
static inline void wormhole_runs_end(struct wormhole_runs *runs, uint64_t end)
{
	runs->on = false;
	runs->total = runs->run.before;
	if (end > runs->run.start)
		runs->total += end - runs->run.start;
}
