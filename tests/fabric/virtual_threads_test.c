/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Parts of a virtual fabric that run on other threads than their own: threads that do not exist,
 * that stay out for a while, and that wait in other ways, all drawn. Results must not notice it.
 *
 *     virtual_threads_test CASES
 *     virtual_threads_test seed SEED
 */

#include <errno.h>
#include <pthread.h>

#include "virtual/virtual_partitions.h"
#include "virtual/virtual_threads.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

#define CASES 24

/* Drawn for the case. */
static struct {
	unsigned threads, created; /* threads that partitions are assigned to; threads that exist */
	unsigned help_looks, spin_looks;
	unsigned switch_each; /* rounds of all partitions between two threads that are late */
	unsigned out_us;
} way;

static atomic_uint created, rounds, helped, missing;

int __real_pthread_create(
	pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
int __wrap_pthread_create(
	pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
bool __real_virtual_round_run(struct virtual_worker *worker);
bool __wrap_virtual_round_run(struct virtual_worker *worker);

int __wrap_pthread_create(
	pthread_t *id, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
	if (atomic_fetch_add(&created, 1) + 1 >= way.created)
		return EAGAIN;
	return __real_pthread_create(id, attributes, run, argument);
}

bool __wrap_virtual_round_run(struct virtual_worker *worker)
{
	struct virtual_partitions *partitions = worker->partitions;
	unsigned thread = atomic_load(&worker->claim) % 256, round = atomic_fetch_add(&rounds, 1);

	assert_in_range(thread, 0, way.created - 1);
	atomic_fetch_add(&helped, thread != worker->use.thread);
	atomic_fetch_add(&missing, worker->use.thread >= way.created);
	if (partitions->threads > 1 && round % way.switch_each == 0)
		atomic_store(
			&partitions->thread[1 + round / way.switch_each % (partitions->threads - 1)]
				 .needless_us,
			way.out_us);
	return __real_virtual_round_run(worker);
}

static void prepare(struct virtual_partitions *partitions)
{
	partitions->threads = way.threads;
	partitions->help_looks = way.help_looks;
	partitions->spin_looks = way.spin_looks;
}

static void draw_way(unsigned seed, unsigned workers)
{
	struct rng rng;

	rng_init(&rng, seed, 1, 0);
	way.threads = 1 + (unsigned)rng_below(&rng, workers);
	way.created =
		rng_below(&rng, 3) > 0 ? way.threads : 1 + (unsigned)rng_below(&rng, way.threads);
	way.help_looks = rng_below(&rng, 2) == 0 ? 0 : 250;
	way.spin_looks = rng_below(&rng, 2) == 0 ? 0 : VIRTUAL_SPIN_LOOKS;
	way.switch_each = 1 + (unsigned)rng_below(&rng, 300);
	way.out_us = 1 + (unsigned)rng_below(&rng, 200);
}

/* Returns the number of rounds that ran on other threads than their own. */
static unsigned run_case(unsigned seed)
{
	struct error error = {""}, other = {""};
	struct drawn drawn;
	char *one, *many;

	drawn_draw(seed, &drawn);
	draw_way(seed, drawn.workers);
	drawn.prepare = prepare;
	created = rounds = helped = missing = 0;
	one = drawn_result(drawn_plain, &drawn, NULL, 1, &error);
	many = drawn_result(drawn_plain, &drawn, NULL, drawn.workers, &other);
	if (one == NULL || many == NULL)
		fail_msg("case %u, %u workers on %u of %u threads: '%s', '%s'", seed, drawn.workers,
			way.created, way.threads, error.text, other.text);
	drawn_expect_same(one, many, seed, &drawn);
	free(one);
	free(many);
	assert_true(rounds > 0);
	assert_true(helped >= missing);
	if (way.threads == 1)
		assert_int_equal(helped, 0);
	return helped;
}

static unsigned first = 1, cases = CASES;

UNIT_TEST(threads_that_are_missing_or_stay_out_do_not_change_the_result)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < cases; i++)
		sum += run_case(first + i);
	print_message("%u rounds ran on other threads than their own\n", sum);
	if (cases >= CASES)
		assert_true(sum > 1000);
}

UNIT_TEST(the_table_says_how_much_ran_on_other_threads)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	way.threads = 4;
	way.created = way.spin_looks = 1;
	way.switch_each = 1000000;
	virtual_lab_open(&lab, drawn_plain, NULL, 0);
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 4, &error), 0);
	created = 0;
	prepare(lab.fabric->partitions);
	assert_int_equal(virtual_fabric_run(lab.fabric, NULL, NULL, NULL, &error), 0);
	assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &error), 0);
	run_result_print(&lab.result, lab.config, out);
	fclose(out);
	assert_non_null(strstr(text,
		"\n  workers                other programs used the cores: 75 % of the rounds ran "
		"on another worker's thread\n"));
	free(text);
}

int main(int argc, char **argv)
{
	if (argc == 2)
		cases = (unsigned)strtoul(argv[1], NULL, 10);
	if (argc == 3 && strcmp(argv[1], "seed") == 0) {
		first = (unsigned)strtoul(argv[2], NULL, 10);
		cases = 1;
	}
	return unit_run(NULL, NULL);
}
