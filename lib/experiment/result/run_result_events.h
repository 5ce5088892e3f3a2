/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The events of a run (run_events.h) in its result: when each occurred and what it cost. Counts
 * cover the time from an event to the next one, so the counts of all events add up to the counts
 * since the first event. */

#include "experiment/run/run_events.h"
#include "run_result.h"

struct run_result_event {
	char what[RUN_EVENT_TEXT];
	weft_time at_ps;                  /* since the start of traffic */
	weft_time detect_ps, reroute_ps;  /* after the event; WEFT_TIME_NEVER: it did not happen */
	uint64_t lost, resent, abandoned; /* data frames until the next event */
};

/* Appends an event with no effects yet. Returns NULL if out of memory. */
struct run_result_event *run_result_add_event(struct run_result *result);

/* Time from the event to the end of the first sample in which throughput was back at 95 % of its
 * earlier mean. The mean covers the samples between the previous event, or the start of measuring,
 * and this one. 0: throughput was never below that; WEFT_TIME_NEVER: it did not recover before the
 * next event or the end, or there is no earlier sample. The resolution is one sample. */
weft_time run_result_event_recovery(const struct run_result *result, uint32_t event);

/* The list in the result document. Returns NULL if out of memory. */
json_t *run_result_events_json(const struct run_result *result);
/* The events in the part of one process of a lab: each process has all events, with its own counts.
 * The second function adds them. Returns 0, -EINVAL or -ENOMEM. */
json_t *run_result_events_part(const struct run_result *result);
int run_result_add_events_part(struct run_result *into, const json_t *part);
/* Prints one line for each of the first events, and the total number of events. */
void run_result_print_events(const struct run_result *result, FILE *out);
