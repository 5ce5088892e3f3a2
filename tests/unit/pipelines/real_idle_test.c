/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/real_fabric_idle.h"

#include <pthread.h>

#include "unit.h"

#define RESTS   20000000
#define REST_PS (50 * PS_PER_MS)

struct bench {
	struct real_worker worker;
	_Atomic weft_time now;
	atomic_bool done;
};

/* As real_idle() does, on a clock that stands still but for the rests. */
static void *rest_again_and_again(void *ctx)
{
	struct bench *bench = ctx;

	for (unsigned i = 0; i < RESTS; i++) {
		atomic_store(&bench->worker.rest.resting, true);
		atomic_fetch_add(&bench->now, REST_PS);
		loop_stall_exempt(&bench->worker.stall, REST_PS);
		atomic_store(&bench->worker.rest.resting, false);
	}
	atomic_store(&bench->done, true);
	return NULL;
}

/* The loop wakes up at any moment while another thread asks. */
UNIT_TEST(a_rest_that_ends_while_somebody_looks_is_no_absence)
{
	static struct bench bench = {.now = PS_PER_S};
	weft_time longest = 0;
	pthread_t thread;

	loop_stall_begin(&bench.worker.stall, PS_PER_S);
	assert_int_equal(pthread_create(&thread, NULL, rest_again_and_again, &bench), 0);
	while (!atomic_load(&bench.done)) {
		weft_time away = real_idle_away(&bench.worker, atomic_load(&bench.now));

		longest = away > longest ? away : longest;
	}
	pthread_join(thread, NULL);
	assert_int_equal(longest, 0);
}

UNIT_TEST(an_absence_without_rest_counts)
{
	static struct real_worker worker;

	loop_stall_begin(&worker.stall, PS_PER_S);
	assert_int_equal(real_idle_away(&worker, PS_PER_S + PS_PER_MS), PS_PER_MS);
}
