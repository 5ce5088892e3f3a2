/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random fabrics on the virtual clock with their whole result, for tests that compare threads and
 * processes. */

#include "base/rng.h"
#include "base/weft_time.h"
#include "virtual/parallel/ranks.h"

#define DRAWN_WORKERS_MAX 8
#define DRAWN_SETS_MAX    40
#define DRAWN_SET_BYTES   96

struct virtual_partitions;

struct drawn {
	char text[DRAWN_SETS_MAX][DRAWN_SET_BYTES];
	const char *set[DRAWN_SETS_MAX];
	unsigned sets, workers;
	void (*prepare)(struct virtual_partitions *partitions); /* before the run; NULL: nothing */
	weft_time hello_ps;      /* switches refresh credits four times as often; 0: the default */
	weft_time host_delay_ps; /* delay of hosts' links; 0: as the others */
};

/* The run file that the sets change. */
extern const char drawn_plain[];

void drawn_draw(unsigned seed, struct drawn *drawn);

/* A schedule of 12 ranks. */
void drawn_schedule(const char *path, const char *kind);

/* Returns everything that a user gets, without what may differ; NULL: the run is impossible and the
 * fault says why, or this is not rank 0. */
char *drawn_result(const char *file, const struct drawn *drawn, struct ranks *ranks,
	unsigned workers, struct error *error);

/* Fails at the first difference, with the sets. */
void drawn_expect_same(const char *one, const char *many, unsigned seed, const struct drawn *drawn);

/* Expects the result of one worker, which must contain 'has' unless NULL, from each of these
 * numbers of workers, up to 0. */
void drawn_expect_workers(
	const struct drawn *drawn, unsigned seed, const char *has, const unsigned *workers);
extern const unsigned drawn_workers[]; /* 2, 3, 7 */
