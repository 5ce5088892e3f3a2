/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The jobs of a run: how long each one took, and how much it was slowed down by the others. */

#include <stdlib.h>

#include "experiment/run/run_config.h"
#include "experiment/run/run_events.h"
#include "run_result.h"

/* Times of a job; the ratio of two of them is a slowdown. NAN: unknown. */
struct run_job_time {
	double completion_ns; /* for a schedule, or traffic that ends */
	double latency_ns;    /* for traffic: mean total latency of its messages */
};

struct run_result_job {
	char name[TOPOLOGY_NAME_MAX];
	char (*host)[TOPOLOGY_NAME_MAX]; /* [hosts] in the order of ranks */
	uint32_t hosts;
	uint64_t start_ns;
	bool schedule;
	struct run_job_time with_all, alone;
	struct run_job_time beside[RUN_JOBS_MAX]; /* with one other job; unknown at its own index */
};

struct run_result_jobs {
	struct run_result_job *at;
	uint32_t count;
};

/* Creates jobs with names but without times; -ENOMEM. The caller fills in the hosts; the result
 * owns everything. */
int run_result_jobs_make(struct run_result *result, const struct run_config *run);
/* Allocates 'host' of a job for this number of hosts. May return -ENOMEM. */
int run_result_job_set_hosts(struct run_result_job *job, uint32_t hosts);
static inline void run_result_jobs_free(struct run_result *result)
{
	for (uint32_t i = 0; result->jobs != NULL && i < result->jobs->count; i++)
		free(result->jobs->at[i].host);
	if (result->jobs != NULL)
		free(result->jobs->at);
	free(result->jobs);
	result->jobs = NULL;
}
/* The times of job 'number' in the result of a run that includes it. */
struct run_job_time run_result_job_time(
	const struct run_result *result, const struct run_config *run, uint32_t number);

json_t *run_result_jobs_json(const struct run_result *result);
void run_result_print_jobs(const struct run_result *result, FILE *out);

/* Completion times of the ranks of a run's schedule, or of its jobs' schedules. */

#define RUN_SLOWEST_RANKS 5

struct run_result_rank {
	char host[TOPOLOGY_NAME_MAX];
	uint32_t number; /* in its schedule */
	uint32_t job;    /* number of its job, plus 1; 0: no job */
	bool ended;
	uint64_t completion_ns; /* since the start of its schedule; 0: it has no operations */
};

struct run_result_ranks {
	struct run_result_rank *at;
	uint32_t count;
};

/* Creates zeroed ranks, which the result owns; -ENOMEM. */
int run_result_ranks_make(struct run_result *result, uint32_t count);
static inline void run_result_ranks_free(struct run_result *result)
{
	if (result->ranks != NULL)
		free(result->ranks->at);
	free(result->ranks);
	result->ranks = NULL;
}

/* Returns NULL if out of memory. */
json_t *run_result_ranks_json(const struct run_result *result);
void run_result_print_ranks(const struct run_result *result, FILE *out);

/* The events of a run (run_events.h) in its result: when each occurred and what it cost. Counts
 * cover the time from an event to the next one, so the counts of all events add up to the counts
 * since the first event. */

struct run_result_event {
	char what[RUN_EVENT_TEXT];
	weft_time at_ps;                  /* since the start of traffic */
	weft_time detect_ps, reroute_ps;  /* after the event; WEFT_TIME_NEVER: it did not happen */
	uint64_t lost, resent, abandoned; /* data frames until the next event */
};

/* Appends an event with no effects yet. Returns NULL if out of memory. */
struct run_result_event *run_result_add_event(struct run_result *result);

/* Time from the event to the end of the first sample in which throughput was back at 95 % of its
 * earlier mean. Samples that end before a cut is detected do not count: frames are still lost. The
 * mean covers the samples between the previous event, or the start of measuring,
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
