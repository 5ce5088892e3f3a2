/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "table_image.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/frame.h"

#define HEAD_BYTES 3 /* scheme, runs (2) */
#define RUN_BYTES  6 /* hosts per leaf (2), consecutive leaves (2), number of the first (2) */

/* Consecutive leaves with the same number of consecutive hosts each, the usual case. */
struct leaf_run {
	uint32_t each, leaves, first;
};

static unsigned number_of(const struct queuing_scheme *scheme)
{
	unsigned number = 0;

	while (queuing_scheme_at(number) != scheme)
		number++;
	return number;
}

/* Consecutive hosts from 'host' on, on one leaf. */
static uint32_t hosts_in_a_row(const struct queuing *queuing, uint32_t host)
{
	uint32_t end = host + 1;

	while (end < queuing->hosts && queuing->leaf[end] == queuing->leaf[host])
		end++;
	return end - host;
}

static struct leaf_run run_at(const struct queuing *queuing, uint32_t host)
{
	struct leaf_run run = {hosts_in_a_row(queuing, host), 1, queuing->leaf[host]};

	for (uint32_t next = host + run.each;
		next < queuing->hosts && queuing->leaf[next] == run.first + run.leaves &&
		hosts_in_a_row(queuing, next) == run.each;
		next += run.each)
		run.leaves++;
	return run;
}

uint32_t image_queuing_put(uint8_t *at, const struct queuing *queuing)
{
	uint32_t runs = 0;

	if (queuing == NULL)
		return 0;
	for (uint32_t host = 0; host < queuing->hosts; runs++) {
		struct leaf_run run = run_at(queuing, host);

		if (at != NULL)
			image_put(image_put(image_put(at + HEAD_BYTES + RUN_BYTES * runs, run.each,
						    2),
					  run.leaves, 2),
				run.first, 2);
		host += run.each * run.leaves;
	}
	if (at != NULL)
		image_put(image_put(at, number_of(queuing->scheme), 1), runs, 2);
	return HEAD_BYTES + RUN_BYTES * runs;
}

uint32_t image_queuing_length(const uint8_t *at)
{
	return HEAD_BYTES + RUN_BYTES * (uint32_t)image_get(at + 1, 2);
}

static struct leaf_run read_run(const uint8_t *at)
{
	return (struct leaf_run){(uint32_t)image_get(at, 2), (uint32_t)image_get(at + 2, 2),
		(uint32_t)image_get(at + 4, 2)};
}

static bool covers_all_hosts(const uint8_t *at, uint32_t runs, uint32_t hosts)
{
	uint64_t covered = 0;

	for (uint32_t i = 0; i < runs; i++) {
		struct leaf_run run = read_run(at + HEAD_BYTES + RUN_BYTES * i);

		if (run.each == 0 || run.leaves == 0 || run.first + run.leaves > hosts)
			return false;
		covered += (uint64_t)run.each * run.leaves;
	}
	return covered == hosts;
}

uint32_t image_queuing_check(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned queues)
{
	struct queuing queuing = {.queues = queues, .hosts = hosts};
	struct error error;

	if (left < HEAD_BYTES || left < image_queuing_length(at) || queues > FRAME_VCS_MAX)
		return 0;
	for (unsigned i = 0; i <= at[0]; i++)
		if (queuing_scheme_at(i) == NULL)
			return 0;
	queuing.scheme = queuing_scheme_at(at[0]);
	if (!covers_all_hosts(at, (uint32_t)image_get(at + 1, 2), hosts) ||
		(queuing.scheme->check != NULL && queuing.scheme->check(&queuing, &error) < 0))
		return 0;
	return image_queuing_length(at);
}

struct queuing *image_queuing_read(const uint8_t *at, uint32_t hosts, unsigned queues)
{
	struct queuing *queuing = calloc(1, sizeof(*queuing));
	uint32_t *leaf = calloc(hosts + 1u, sizeof(*leaf)), host = 0;

	if (queuing == NULL || leaf == NULL) {
		free(queuing);
		free(leaf);
		errno = ENOMEM;
		return NULL;
	}
	*queuing = (struct queuing){
		.scheme = queuing_scheme_at(at[0]), .queues = queues, .hosts = hosts, .leaf = leaf};
	for (uint32_t i = 0; i < image_get(at + 1, 2); i++) {
		struct leaf_run run = read_run(at + HEAD_BYTES + RUN_BYTES * i);

		for (uint32_t k = 0; k < run.each * run.leaves; k++, host++)
			leaf[host] = run.first + k / run.each;
		if (run.first + run.leaves > queuing->leaves)
			queuing->leaves = run.first + run.leaves;
	}
	return queuing;
}
