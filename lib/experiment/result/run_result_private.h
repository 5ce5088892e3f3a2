/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by run_result*.c only. */

#include "run_result.h"

struct run_latencies {
	const struct histogram *network_ns, *total_ns;
	double network_mean_ns, total_mean_ns; /* 0: use the histograms' means */
};

/* Returns {network, total}, each with mean, deviation and percentiles, and with the buckets if
 * 'histograms' is set. All values are null if nothing was measured. */
json_t *run_result_latencies_json(const struct run_latencies *latencies, bool histograms);
/* Returns null for NAN. */
json_t *run_number_json(double value);
/* Returns null for "". */
json_t *run_text_json(const char *text);

/* Returns null if it is not complete. */
static inline json_t *run_completion_json(bool complete, uint64_t ns)
{
	return complete ? json_integer((json_int_t)ns) : json_null();
}

/* Returns one object per traffic entry. */
json_t *run_result_entries_json(const struct run_result *result, bool histograms);

/* Returns the texts of the reasons. */
json_t *run_result_reasons_json(const struct run_result *result);
/* Write reasons to a part, and read them from one (-EINVAL). */
json_t *run_result_reasons_part(const struct run_result *result);
int run_result_add_reasons(struct run_result *into, const json_t *reasons);

/* Return arrays. The first is null if the run was too short to detect starvation. */
json_t *run_result_starved_json(const struct run_result *result);
json_t *run_result_pools_json(const struct run_result *result);
/* Write the cycle, starved hosts and queues to a part, and read them from one (-EINVAL, -ENOMEM).
 */
json_t *run_result_starved_part(const struct run_result *result);
int run_result_add_starved_part(struct run_result *into, const json_t *part);
/* Prints nothing if there are no such hosts and queues. */
void run_result_print_starved(const struct run_result *result, FILE *out);

/* Appends a zeroed element and returns it, or NULL if out of memory. 'array' points to the array
 * pointer. */
void *run_result_grow(void *array, unsigned *count, size_t size);

/* Write a histogram to a part, and add one from a part (-EINVAL). */
json_t *run_result_histogram_part(const struct histogram *histogram);
int run_result_add_histogram(struct histogram *into, const json_t *part);
/* Write the entries to a part, and add the entries of a part (-EINVAL, -ENOMEM). */
json_t *run_result_entries_part(const struct run_result *result);
int run_result_add_entries(struct run_result *into, const json_t *entries);
