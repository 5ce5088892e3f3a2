/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The jobs of a run file: schedules or traffic that run side by side, each on its own hosts
 * (job_placement.h). A job also has an entry in the run's traffic, which the run owns. */

#include "run_config.h"

#define RUN_JOBS_MAX 32

/* clang-format off */
#define RUN_PLACEMENTS(X) \
	X(RUN_PLACEMENT_PACKED, "packed") X(RUN_PLACEMENT_RANDOM, "random") \
	X(RUN_PLACEMENT_BY_GROUP, "by-group") X(RUN_PLACEMENT_SPREAD, "spread")
/* clang-format on */
#define X(id, text) id,
enum run_placement_kind { RUN_PLACEMENTS(X) RUN_PLACEMENT_FILE };
#undef X

struct run_placement {
	enum run_placement_kind kind;
	char *file; /* absolute path of a list of hosts; only with RUN_PLACEMENT_FILE */
};

struct run_config_job {
	char name[TOPOLOGY_NAME_MAX];
	char *schedule;                    /* absolute path; NULL: 'traffic' */
	struct run_config_traffic traffic; /* pattern NULL: 'schedule' */
	uint32_t hosts;                    /* 0: all hosts of the file */
	uint32_t ranks_per_host;           /* 0: 1 */
	struct run_placement placement;
	weft_time start_ps;
	bool baseline; /* it also runs alone, and with each other job */
	struct run_config_place place;
};

/* The traffic entry of job 'number'. */
static inline uint32_t run_job_entry(const struct run_config *config, uint32_t number)
{
	return config->traffic.count - config->jobs.count + number;
}

/* While a baseline is measured, the file's other traffic is absent as well. */
static inline bool run_job_is_absent(
	const struct run_config *config, const struct run_config_traffic *entry)
{
	return entry->job == 0 ? config->jobs.absent != 0
			       : (config->jobs.absent >> (entry->job - 1) & 1) != 0;
}

/* Appends the jobs' entries to the run's traffic; call it after all keys are read. Returns 0,
 * -ENOMEM, or -EINVAL with error set. */
int run_jobs_complete(struct run_config *config, struct error *error);
void run_jobs_free(struct run_config_job_list *jobs);
