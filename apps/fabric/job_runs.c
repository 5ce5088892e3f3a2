/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "simulated_run.h"

#include <stdlib.h>

#include "experiment/workload/run_hosts.h"

struct runner {
	struct job_runs *runs;
	struct run_config *config;
	const atomic_bool *stop;
	job_run_fn *run;
	void *ctx;
	struct error *error;
	weft_time lasts_ps; /* duration of the longest run with a schedule so far; 0: none yet */
};

static bool has_schedule(const struct run_config *config, uint32_t set)
{
	bool has = false;

	for (uint32_t i = 0; i < config->jobs.count; i++)
		has |= (set >> i & 1) != 0 && config->jobs.at[i].schedule != NULL;
	return has;
}

static void take_times(const struct runner *runner, uint32_t set, const struct run_result *result)
{
	const struct run_config *config = runner->config;
	struct run_result_job *jobs = runner->runs->kept.jobs->at;

	for (uint32_t i = 0; i < config->jobs.count; i++) {
		struct run_job_time time;

		if ((set >> i & 1) == 0)
			continue;
		time = run_result_job_time(result, config, i);
		if (set == UINT32_C(1) << i)
			jobs[i].alone = time;
		for (uint32_t k = 0; k < config->jobs.count; k++)
			if (k != i && (set >> k & 1) != 0)
				jobs[i].beside[k] = time;
	}
}

/* Runs this set of jobs without the others. */
static int run_set(struct runner *runner, uint32_t set)
{
	struct run_config *config = runner->config;
	const struct run_config_measure measure = config->measure;
	bool schedule = has_schedule(config, set);
	struct run_result result = {0};
	int code;

	if (runner->stop != NULL && atomic_load_explicit(runner->stop, memory_order_relaxed))
		return 0;
	if (!schedule && runner->lasts_ps > 0) {
		config->measure.duration_ps = runner->lasts_ps;
		if (measure.sample_ps > runner->lasts_ps)
			config->measure.sample_ps = runner->lasts_ps;
	}
	config->jobs.absent = ~set;
	code = runner->run(runner->ctx, config, &result, runner->error);
	config->jobs.absent = 0;
	config->measure = measure;
	if (code == 0 && result.entries > 0)
		take_times(runner, set, &result);
	if (code == 0 && schedule && result.to_ns * PS_PER_NS > runner->lasts_ps)
		runner->lasts_ps = result.to_ns * PS_PER_NS;
	run_result_free(&result);
	return code;
}

/* Returns true if the run has two jobs and no other traffic. */
static bool is_pair(const struct run_config *config)
{
	return config->jobs.count == 2 && config->traffic.count == 2;
}

/* Runs each job alone and each pair of jobs, except a pair that is the run itself. 'schedule'
 * selects the sets with or without a schedule. */
static int run_sets(struct runner *runner, bool schedule)
{
	const struct run_config *config = runner->config;
	uint32_t jobs = config->jobs.count;
	int result = 0;

	for (uint32_t i = 0; i < jobs; i++)
		for (uint32_t k = i; k < jobs && result == 0; k++) {
			uint32_t set = UINT32_C(1) << i | UINT32_C(1) << k;

			if ((config->jobs.at[i].baseline || config->jobs.at[k].baseline) &&
				has_schedule(config, set) == schedule &&
				(i == k || !is_pair(config)))
				result = run_set(runner, set);
		}
	return result;
}

/* Runs all sets. Traffic without an end runs as long as the longest schedule in these runs. */
static int run_all(struct runner *runner)
{
	const struct run_config *config = runner->config;
	int result = run_sets(runner, true);

	for (uint32_t i = 0; i < config->jobs.count && result == 0; i++)
		if (config->jobs.at[i].baseline && config->jobs.at[i].schedule == NULL)
			for (uint32_t k = 0;
				k < config->jobs.count && result == 0 && runner->lasts_ps == 0; k++)
				if (config->jobs.at[k].schedule != NULL)
					result = run_set(runner, UINT32_C(1) << k);
	return result == 0 ? run_sets(runner, false) : result;
}

int job_runs_make(struct job_runs *runs, struct run_config *config, const atomic_bool *stop,
	job_run_fn *run, void *ctx, struct error *error)
{
	struct runner runner = {.runs = runs,
		.config = config,
		.stop = stop,
		.run = run,
		.ctx = ctx,
		.error = error};

	*runs = (struct job_runs){0};
	if (config->jobs.count == 0)
		return 0;
	if (run_result_jobs_make(&runs->kept, config) < 0)
		return error_set(error, ENOMEM, "not enough memory for jobs");
	return run_all(&runner);
}

void job_runs_free(struct job_runs *runs)
{
	run_result_free(&runs->kept);
}

static int add_hosts(const struct run_config *config, const struct topology *topology,
	struct run_result_jobs *jobs, struct error *error)
{
	struct job_placement placement = {NULL};
	int result = job_placement_make(config, topology, &placement, error);

	for (uint32_t i = 0; i < jobs->count && result == 0; i++) {
		struct run_result_job *job = &jobs->at[i];
		uint32_t first = placement.first[i], hosts = placement.first[i + 1] - first;

		if (run_result_job_set_hosts(job, hosts) < 0)
			result = error_set(error, ENOMEM, "not enough memory for jobs");
		for (uint32_t k = 0; k < job->hosts; k++)
			snprintf(job->host[k], sizeof(job->host[k]), "%s",
				topology->host_at[placement.host[first + k]].name);
	}
	free(placement.host);
	return result;
}

int job_runs_finish(struct job_runs *runs, const struct run_config *config,
	const struct topology *topology, struct run_result *result, struct error *error)
{
	struct run_result_jobs *jobs = runs->kept.jobs;

	if (jobs == NULL)
		return 0;
	for (uint32_t i = 0; i < jobs->count; i++) {
		struct run_result_job *job = &jobs->at[i];

		job->with_all = run_result_job_time(result, config, i);
		if (is_pair(config) && config->jobs.at[i].baseline)
			job->beside[1 - i] = job->with_all;
	}
	result->jobs = jobs;
	runs->kept.jobs = NULL;
	return add_hosts(config, topology, jobs, error);
}
