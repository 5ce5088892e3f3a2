/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Carries out the events of a run (experiment/run/run_events.h) on the virtual clock. The run stops
 * at the time of each, as it does for samples, and all threads and processes apply it alike, so the
 * result is byte-identical for any number of them.
 *
 * When a cable is cut, everything on it is lost: data frames that have not reached the far end,
 * credit frames, notifications. The ends notice it after three missing hellos; hellos leave at
 * multiples of 'hello'. Then switches discard what waits for the cable and use alternatives. A
 * rejoined cable is used again at once if its ends had not noticed the cut, and otherwise from the
 * next hello on. */

#include "virtual_private.h"

struct virtual_events;

/* Does nothing unless the run has events. Returns 0, -EINVAL or -ENOMEM. */
int virtual_events_open(struct virtual_fabric *fabric, struct error *error);
void virtual_events_close(struct virtual_fabric *fabric);

/* When the next event is due, or WEFT_TIME_NEVER. */
weft_time virtual_events_due(const struct virtual_fabric *fabric);
/* Between rounds: carries out the events that are due. */
void virtual_events_apply(struct virtual_fabric *fabric, weft_time now);
/* After a sample: triggers events that wait for a counter. */
void virtual_events_watch(struct virtual_fabric *fabric, weft_time now);

/* At the end of the run, in all processes: sums up lost frames. */
void virtual_events_end(struct virtual_fabric *fabric);
/* Returns 0 or -ENOMEM. */
int virtual_events_result(const struct virtual_fabric *fabric, struct run_result *result);
