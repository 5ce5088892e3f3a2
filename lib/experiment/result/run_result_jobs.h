/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The jobs of a run: how long each took, and how much the other jobs slowed it down. */

#include <stdlib.h>

#include "experiment/run/run_config.h"
#include "experiment/run/run_events.h"
#include "run_result.h"

/* Times of a job; the ratio of two such times is a slowdown. NAN: unknown. */
struct run_job_time {
	double completion_ns; /* schedules, and traffic that ends */
	double latency_ns;    /* traffic: mean total latency of its messages */
};

struct run_result_job {
	char name[TOPOLOGY_NAME_MAX];
	char (*host)[TOPOLOGY_NAME_MAX]; /* [hosts] by rank */
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

/* Creates the jobs with names but without times. The result owns them, and the caller fills in
 * their hosts. Returns 0 or -ENOMEM. */
int run_result_jobs_make(struct run_result *result, const struct run_config *run);
/* Allocates 'host' of a job for this number of hosts. Returns 0 or -ENOMEM. */
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
/* Returns the times of job 'number' from the result of a run that includes it. */
struct run_job_time run_result_job_time(
	const struct run_result *result, const struct run_config *run, uint32_t number);

json_t *run_result_jobs_json(const struct run_result *result);
void run_result_print_jobs(const struct run_result *result, FILE *out);

/* Completion times of the ranks of a run's schedule, or of its jobs' schedules. */

#define RUN_SLOWEST_RANKS 5

struct run_result_rank {
	char host[TOPOLOGY_NAME_MAX];
	uint32_t number; /* rank number in its schedule */
	uint32_t job;    /* index of its job plus 1; 0: no job */
	bool ended;
	uint64_t completion_ns; /* since the start of its schedule; 0: the rank has no operations */
};

struct run_result_ranks {
	struct run_result_rank *at;
	uint32_t count;
};

/* Creates zeroed ranks, which the result owns. Returns 0 or -ENOMEM. */
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

/* Results of a run's events (run_events.h): when each occurred, and its cost. An event's counts
 * cover the time until the next event, so they add up to the counts since the first event. */

struct run_result_event {
	char what[RUN_EVENT_TEXT];
	weft_time at_ps; /* since the start of traffic */
	weft_time detect_ps,
		reroute_ps; /* since the event; WEFT_TIME_NEVER: not detected, not rerouted */
	uint64_t lost, resent, abandoned; /* data frames, until the next event */
};

/* Appends an event without effects. Returns NULL if out of memory. */
struct run_result_event *run_result_add_event(struct run_result *result);

/* Returns the time from the event to the end of the first sample with at least 95 % of the earlier
 * mean throughput. That mean covers the samples since the previous event, or since the start of the
 * measurement. Samples that end before a cut is detected do not count as recovered, because frames
 * are still being lost. 0: throughput never fell below 95 %; WEFT_TIME_NEVER: it did not recover
 * before the next event or the end, or there is no earlier sample. The resolution is one sample. */
weft_time run_result_event_recovery(const struct run_result *result, uint32_t event);

/* Returns the list for the result document; NULL if out of memory. */
json_t *run_result_events_json(const struct run_result *result);
/* Returns the events for the part of one process of a lab. Each process has all events, with its
 * own counts. The second function adds them up. Returns 0, -EINVAL or -ENOMEM. */
json_t *run_result_events_part(const struct run_result *result);
int run_result_add_events_part(struct run_result *into, const json_t *part);
/* Prints one line for each of the first events, and the total number of events. */
void run_result_print_events(const struct run_result *result, FILE *out);
