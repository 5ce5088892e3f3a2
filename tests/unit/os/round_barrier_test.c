/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A barrier for threads that work in short rounds. */

#include "unit.h"

#include <pthread.h>

#include "round_barrier.h"

#define THREADS 5
#define ROUNDS  2000

struct crew {
	struct round_barrier barrier;
	unsigned parties;
	unsigned long sum[2][THREADS]; /* plain memory: by side and thread */
	unsigned wrong[THREADS];
};

struct member {
	struct crew *crew;
	unsigned number;
	pthread_t thread;
};

/* Writes one side, and behind the barrier reads what all have written. */
static void *work(void *argument)
{
	const struct member *member = argument;
	struct crew *crew = member->crew;

	for (unsigned long round = 0; round < ROUNDS; round++) {
		unsigned long sum = 0;

		crew->sum[round % 2][member->number] = round + member->number;
		round_barrier_wait(&crew->barrier);
		for (unsigned i = 0; i < crew->parties; i++)
			sum += crew->sum[round % 2][i] - i;
		crew->wrong[member->number] += sum != round * crew->parties;
	}
	return NULL;
}

static void run(unsigned expected, unsigned come, unsigned spins)
{
	struct crew crew = {.parties = come};
	struct member member[THREADS];

	round_barrier_init(&crew.barrier, expected);
	crew.barrier.spins = spins;
	for (unsigned i = 0; i < come; i++)
		member[i] = (struct member){.crew = &crew, .number = i};
	for (unsigned i = 1; i < come; i++)
		assert_int_equal(pthread_create(&member[i].thread, NULL, work, &member[i]), 0);
	if (come < expected)
		round_barrier_expect(&crew.barrier, come);
	work(&member[0]);
	for (unsigned i = 1; i < come; i++)
		pthread_join(member[i].thread, NULL);
	for (unsigned i = 0; i < come; i++)
		assert_int_equal(crew.wrong[i], 0);
}

static void all_see_what_all_have_written(void **state)
{
	run(2, 2, 1000);
	run(THREADS, THREADS, 100);
}

static void threads_that_sleep_are_woken(void **state)
{
	run(2, 2, 0);
	run(THREADS, THREADS, 0);
}

static void one_alone_waits_for_nobody(void **state)
{
	run(1, 1, 0);
}

static void fewer_threads_than_said_can_go_on(void **state)
{
	run(THREADS, 3, 0);
	run(THREADS, 3, 1000);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(all_see_what_all_have_written),
	cmocka_unit_test(threads_that_sleep_are_woken),
	cmocka_unit_test(one_alone_waits_for_nobody),
	cmocka_unit_test(fewer_threads_than_said_can_go_on),
};

UNIT_MAIN(tests)
