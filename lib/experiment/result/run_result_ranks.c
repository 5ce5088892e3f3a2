/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_result_ranks.h"

#include <inttypes.h>
#include <string.h>

#include "base/quantity.h"
#include "run_result_jobs.h"

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

unsigned run_result_slowest_ranks(const struct run_result_ranks *ranks, uint32_t job,
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

static json_t *completion_json(bool ended, uint64_t ns)
{
	return ended ? json_integer((json_int_t)ns) : json_null();
}

static json_t *rank_json(const struct run_result *result, const struct run_result_rank *rank)
{
	json_t *json = json_pack("{s:I,s:s,s:o}", "rank", (json_int_t)rank->number, "host",
		rank->host, "completion_ns", completion_json(rank->ended, rank->completion_ns));

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

/* The last end of each host's ranks, in the order of the hosts' first ranks. */
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
			"completion_ns", completion_json(ended, ns));
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
