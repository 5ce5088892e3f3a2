/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* For the files run_result*.c alone. */

#include "run_result.h"

struct run_latencies {
	const struct histogram *network_ns, *total_ns;
	double network_mean_ns, total_mean_ns; /* 0: the histograms' means are good enough */
};

/* {network, total}, each with mean, deviation and percentiles, and, if 'histograms', the steps. All
 * null if nothing was measured. */
json_t *run_result_latencies_json(const struct run_latencies *latencies, bool histograms);
/* null for NAN. */
json_t *run_number_json(double value);
/* null for "". */
json_t *run_text_json(const char *text);
/* An object for each entry of the traffic. */
json_t *run_result_entries_json(const struct run_result *result, bool histograms);

/* The texts of the reasons. */
json_t *run_result_reasons_json(const struct run_result *result);
/* Writes reasons in the form of a part, and reads them back (-EINVAL). */
json_t *run_result_reasons_part(const struct run_result *result);
int run_result_add_reasons(struct run_result *into, const json_t *reasons);

/* Both are arrays. The first one is 'null' if the run was too short to tell. */
json_t *run_result_starved_json(const struct run_result *result);
json_t *run_result_pools_json(const struct run_result *result);
/* Writes the cycle and the starved hosts and queues of a part, and reads them back: -EINVAL,
 * -ENOMEM. */
json_t *run_result_starved_part(const struct run_result *result);
int run_result_add_starved_part(struct run_result *into, const json_t *part);
/* Prints lines only if there are any such hosts or queues. */
void run_result_print_starved(const struct run_result *result, FILE *out);

/* Appends a zeroed element; NULL if out of memory. 'array' is the address of the pointer to the
 * elements. */
void *run_result_grow(void *array, unsigned *count, size_t size);

/* Writes a histogram in the form of a part, and adds one that it reads back (-EINVAL). */
json_t *run_result_histogram_part(const struct histogram *histogram);
int run_result_add_histogram(struct histogram *into, const json_t *part);
/* Writes the entries in the form of a part, and reads them back (-EINVAL, -ENOMEM). */
json_t *run_result_entries_part(const struct run_result *result);
int run_result_add_entries(struct run_result *into, const json_t *entries);
