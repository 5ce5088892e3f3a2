/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The events of a run (run_events.h) in its result: when each occurred and what it cost. Counts of
 * an event are those from it to the next one, so that the counts of all events add up to the counts
 * since the first. */

#include "experiment/run/run_events.h"
#include "run_result.h"

#define RUN_RESULT_EVENT_UNKNOWN UINT64_MAX

struct run_result_event {
	char what[RUN_EVENT_TEXT];
	weft_time at_ps;                  /* since the start of traffic */
	weft_time detect_ps, reroute_ps;  /* from the event; WEFT_TIME_NEVER: not */
	uint64_t lost, resent, abandoned; /* data frames until the next event; or …_UNKNOWN */
};

/* Appends one of which nothing is known. NULL: no memory. */
struct run_result_event *run_result_add_event(struct run_result *result);

/* From the event to the end of the first sample in which throughput was 95 % of its earlier mean
 * again, after it had been below. The mean is over the samples between the previous event, or the
 * start of measuring, and this one. 0: it was never below; WEFT_TIME_NEVER: not before the next
 * event or the end, or there is no earlier sample. Exact to a sample. */
weft_time run_result_event_recovery(const struct run_result *result, uint32_t event);

/* The list of the result document. NULL without memory. */
json_t *run_result_events_json(const struct run_result *result);
/* A line for each of the first events, and how many there are. */
void run_result_print_events(const struct run_result *result, FILE *out);
