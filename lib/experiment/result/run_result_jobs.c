/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_result_jobs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "run_result_private.h"

#define UNKNOWN ((struct run_job_time){NAN, NAN})

int run_result_jobs_make(struct run_result *result, const struct run_config *run)
{
	struct run_result_jobs *jobs = calloc(1, sizeof(*jobs));

	if (jobs != NULL)
		jobs->at = calloc(run->jobs.count + 1u, sizeof(*jobs->at));
	if (jobs == NULL || jobs->at == NULL) {
		free(jobs);
		return -ENOMEM;
	}
	jobs->count = run->jobs.count;
	for (uint32_t i = 0; i < jobs->count; i++) {
		struct run_result_job *job = &jobs->at[i];

		snprintf(job->name, sizeof(job->name), "%s", run->jobs.at[i].name);
		job->start_ns = ps_to_ns(run->jobs.at[i].start_ps);
		job->schedule = run->jobs.at[i].schedule != NULL;
		job->with_all = job->alone = UNKNOWN;
		for (uint32_t k = 0; k < RUN_JOBS_MAX; k++)
			job->beside[k] = UNKNOWN;
	}
	result->jobs = jobs;
	return 0;
}

int run_result_job_set_hosts(struct run_result_job *job, uint32_t hosts)
{
	job->host = calloc(hosts + 1u, sizeof(*job->host));
	job->hosts = job->host != NULL ? hosts : 0;
	return job->host != NULL ? 0 : -ENOMEM;
}

static double ranks_completion(const struct run_result_ranks *ranks, uint32_t number)
{
	uint64_t last = 0;

	for (uint32_t i = 0; ranks != NULL && i < ranks->count; i++) {
		if (ranks->at[i].job != number + 1)
			continue;
		if (!ranks->at[i].ended)
			return NAN;
		last = ranks->at[i].completion_ns > last ? ranks->at[i].completion_ns : last;
	}
	return ranks != NULL ? (double)last : NAN;
}

struct run_job_time run_result_job_time(
	const struct run_result *result, const struct run_config *run, uint32_t number)
{
	const struct run_entry *entry = &result->entry[run_job_entry(run, number)];
	struct run_job_time time = UNKNOWN;
	uint64_t ns;

	if (run->jobs.at[number].schedule != NULL) {
		time.completion_ns = ranks_completion(result->ranks, number);
		return time;
	}
	if (run_entry_completion(entry, &ns))
		time.completion_ns = (double)ns;
	if (entry->total_ns.count > 0)
		time.latency_ns = histogram_mean(&entry->total_ns);
	return time;
}

/* Returns the ratio of completion times for a schedule, of latencies for traffic; NAN: unknown. */
static double run_job_slowdown(const struct run_result_job *job, const struct run_job_time *time)
{
	return job->schedule ? time->completion_ns / job->alone.completion_ns
			     : time->latency_ns / job->alone.latency_ns;
}

static bool is_known(const struct run_job_time *time)
{
	return !isnan(time->completion_ns) || !isnan(time->latency_ns);
}

static json_t *value_json(double value)
{
	return isnan(value) ? json_null() : json_real(value);
}

static json_t *time_json(const struct run_job_time *time)
{
	return is_known(time)
		       ? json_pack("{s:o,s:o}", "completion_ns", value_json(time->completion_ns),
				 "latency_ns", value_json(time->latency_ns))
		       : json_null();
}

static json_t *job_json(const struct run_result_jobs *jobs, const struct run_result_job *job)
{
	json_t *hosts = json_array(), *beside = json_array(), *json;

	for (uint32_t i = 0; i < job->hosts; i++)
		json_array_append_new(hosts, json_string(job->host[i]));
	for (uint32_t i = 0; i < jobs->count; i++)
		if (is_known(&job->beside[i]))
			json_array_append_new(beside,
				json_pack("{s:s,s:o,s:o,s:o}", "job", jobs->at[i].name,
					"completion_ns", value_json(job->beside[i].completion_ns),
					"latency_ns", value_json(job->beside[i].latency_ns),
					"slowdown",
					value_json(run_job_slowdown(job, &job->beside[i]))));
	json = json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "name", job->name, "start_ns",
		(json_int_t)job->start_ns, "completion_ns", value_json(job->with_all.completion_ns),
		"latency_ns", value_json(job->with_all.latency_ns), "alone", time_json(&job->alone),
		"slowdown", value_json(run_job_slowdown(job, &job->with_all)), "beside", beside,
		"hosts", hosts);
	return json;
}

json_t *run_result_jobs_json(const struct run_result *result)
{
	json_t *json = json_array();

	for (uint32_t i = 0; i < result->jobs->count; i++)
		json_array_append_new(json, job_json(result->jobs, &result->jobs->at[i]));
	return json;
}

static void print_time(
	const char *before, const struct run_job_time *time, bool schedule, FILE *out)
{
	double ns = schedule ? time->completion_ns : time->latency_ns;
	char text[32];

	if (!isnan(ns))
		fprintf(out, ", %s %s", before, quantity_time_text((uint64_t)ns, 4, text));
}

static void print_job(
	const struct run_result_jobs *jobs, const struct run_result_job *job, FILE *out)
{
	double slowdown = run_job_slowdown(job, &job->with_all);
	char name[32];

	snprintf(name, sizeof(name), "job %.18s", job->name);
	fprintf(out, "  %-22s %u host%s", name, job->hosts, job->hosts == 1 ? "" : "s");
	print_time(job->schedule ? "completed in" : "mean latency", &job->with_all, job->schedule,
		out);
	print_time(job->schedule ? "alone in" : "alone", &job->alone, job->schedule, out);
	if (!isnan(slowdown))
		fprintf(out, ", slowdown %.3f", slowdown);
	putc('\n', out);
	/* With two jobs and no other traffic, the run with the other job is the run itself. */
	for (uint32_t i = 0; i < jobs->count; i++) {
		double beside = run_job_slowdown(job, &job->beside[i]);

		if (!isnan(beside) && (jobs->count > 2 || beside != slowdown))
			fprintf(out, "  %-22s slowdown %.3f with %s only\n", "", beside,
				jobs->at[i].name);
	}
}

void run_result_print_jobs(const struct run_result *result, FILE *out)
{
	for (uint32_t i = 0; result->jobs != NULL && i < result->jobs->count; i++)
		print_job(result->jobs, &result->jobs->at[i], out);
}

int run_result_ranks_make(struct run_result *result, uint32_t count)
{
	struct run_result_ranks *ranks = calloc(1, sizeof(*ranks));

	if (ranks != NULL)
		ranks->at = calloc((size_t)count + 1, sizeof(*ranks->at));
	if (ranks == NULL || ranks->at == NULL) {
		free(ranks);
		return -ENOMEM;
	}
	ranks->count = count;
	result->ranks = ranks;
	return 0;
}

/* Selects at most RUN_SLOWEST_RANKS ranks that ended last, the latest first. Returns their number.
 * 'job' is as in run_result_rank. */
static unsigned run_result_slowest_ranks(const struct run_result_ranks *ranks, uint32_t job,
	const struct run_result_rank *slowest[RUN_SLOWEST_RANKS])
{
	unsigned count = 0;

	for (uint32_t i = 0; i < ranks->count; i++) {
		const struct run_result_rank *rank = &ranks->at[i];
		unsigned at = count;

		if (rank->job != job || !rank->ended)
			continue;
		while (at > 0 && slowest[at - 1]->completion_ns < rank->completion_ns)
			at--;
		if (at == RUN_SLOWEST_RANKS)
			continue;
		count += count < RUN_SLOWEST_RANKS;
		memmove(&slowest[at + 1], &slowest[at], (count - 1 - at) * sizeof(*slowest));
		slowest[at] = rank;
	}
	return count;
}

static json_t *rank_json(const struct run_result *result, const struct run_result_rank *rank)
{
	json_t *json = json_pack("{s:I,s:s,s:o}", "rank", (json_int_t)rank->number, "host",
		rank->host, "completion_ns", run_completion_json(rank->ended, rank->completion_ns));

	if (rank->job != 0 && result->jobs != NULL)
		json_object_set_new(json, "job", json_string(result->jobs->at[rank->job - 1].name));
	return json;
}

static int compare_hosts(const void *a, const void *b)
{
	const struct run_result_rank *one = *(const struct run_result_rank *const *)a;
	const struct run_result_rank *other = *(const struct run_result_rank *const *)b;
	int order = strcmp(one->host, other->host);

	return order != 0 ? order : (one > other) - (one < other);
}

/* Returns when the last rank of each host ended, in the order of the hosts' first ranks. */
static json_t *hosts_json(const struct run_result_ranks *ranks)
{
	const struct run_result_rank **sorted = calloc(ranks->count + 1u, sizeof(*sorted));
	json_t **of = calloc(ranks->count + 1u, sizeof(*of)), *hosts = json_array();

	for (uint32_t i = 0; sorted != NULL && of != NULL && i < ranks->count; i++)
		sorted[i] = &ranks->at[i];
	if (sorted != NULL && of != NULL)
		qsort(sorted, ranks->count, sizeof(*sorted), compare_hosts);
	for (uint32_t i = 0, next; sorted != NULL && of != NULL && i < ranks->count; i = next) {
		uint64_t ns = 0;
		bool ended = true;

		for (next = i;
			next < ranks->count && strcmp(sorted[next]->host, sorted[i]->host) == 0;
			next++) {
			ended &= sorted[next]->ended;
			ns = sorted[next]->completion_ns > ns ? sorted[next]->completion_ns : ns;
		}
		of[sorted[i] - ranks->at] = json_pack("{s:s,s:o}", "host", sorted[i]->host,
			"completion_ns", run_completion_json(ended, ns));
	}
	for (uint32_t i = 0; of != NULL && i < ranks->count; i++)
		if (of[i] != NULL)
			json_array_append_new(hosts, of[i]);
	free(of);
	free(sorted);
	return hosts;
}

json_t *run_result_ranks_json(const struct run_result *result)
{
	const struct run_result_rank *slowest[RUN_SLOWEST_RANKS];
	const struct run_result_ranks *ranks = result->ranks;
	json_t *list = json_array(), *last = json_array();
	uint32_t jobs = result->jobs != NULL ? result->jobs->count : 0;

	for (uint32_t i = 0; i < ranks->count && !run_result_is_stopped(result); i++)
		json_array_append_new(list, rank_json(result, &ranks->at[i]));
	for (uint32_t job = 0; job <= jobs; job++) {
		unsigned count = run_result_slowest_ranks(ranks, job, slowest);

		for (unsigned i = 0; i < count; i++)
			json_array_append_new(last, rank_json(result, slowest[i]));
	}
	return json_pack(
		"{s:o,s:o,s:o}", "ranks", list, "hosts", hosts_json(ranks), "slowest", last);
}

void run_result_print_ranks(const struct run_result *result, FILE *out)
{
	const struct run_result_rank *slowest[RUN_SLOWEST_RANKS];
	uint32_t jobs = result->jobs != NULL ? result->jobs->count : 0;
	char text[32];

	if (result->ranks == NULL)
		return;
	for (uint32_t job = 0; job <= jobs; job++) {
		unsigned count = run_result_slowest_ranks(result->ranks, job, slowest);

		if (count < 2)
			continue;
		fprintf(out, "  %-22s", "slowest ranks");
		if (job != 0)
			fprintf(out, " of job %s:", result->jobs->at[job - 1].name);
		for (unsigned i = 0; i < count; i++)
			fprintf(out, "%s %" PRIu32 " on %s in %s", i > 0 ? "," : "",
				slowest[i]->number, slowest[i]->host,
				quantity_time_text(slowest[i]->completion_ns, 4, text));
		putc('\n', out);
	}
}
