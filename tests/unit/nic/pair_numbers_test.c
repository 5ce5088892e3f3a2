/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pair_numbers.h"

#include <string.h>

#include "rng.h"
#include "unit.h"

#define HOSTS 4096u

/* Of the allocations to come the one that fails, from 1; 0: none. */
static unsigned failing;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static bool fails(void)
{
	return failing > 0 && --failing == 0;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	return fails() ? NULL : __real_aligned_alloc(alignment, size);
}

/* Of few hosts or of all, few numbers or many: an array has the same. */
static void check_against_array(uint32_t hosts, uint32_t talk, unsigned steps, uint32_t most)
{
	static uint32_t array[HOSTS];
	struct pair_numbers numbers;
	struct rng rng;

	memset(array, 0, sizeof(array));
	rng_init(&rng, hosts, talk, most);
	assert_int_equal(0, pair_numbers_init(&numbers, hosts));
	for (unsigned i = 0; i < steps; i++) {
		uint32_t host = hosts - 1 - (uint32_t)rng_below(&rng, talk);

		assert_int_equal(pair_numbers_get(&numbers, host), array[host]);
		if (rng_chance_ppm(&rng, 500000)) {
			assert_int_equal(pair_numbers_take(&numbers, host), array[host]++);
			continue;
		}
		array[host] = (uint32_t)rng_below(&rng, most);
		pair_numbers_set(&numbers, host, array[host]);
	}
	for (uint32_t host = 0; host < hosts; host++)
		assert_int_equal(pair_numbers_get(&numbers, host), array[host]);
	assert_false(numbers.failed);
	pair_numbers_fini(&numbers);
}

static void numbers_are_those_of_an_array(void **state)
{
	check_against_array(1, 1, 1000, UINT32_MAX);
	check_against_array(HOSTS, 3, 10000, 300);
	check_against_array(HOSTS, 200, 20000, UINT32_MAX);
	check_against_array(HOSTS, HOSTS, 200000, 300);
	check_against_array(HOSTS, HOSTS, 200000, UINT32_MAX);
	check_against_array(33, 33, 20000, 260);
}

/* Large ones come and go: 254 is a byte, 255 is not. */
static void a_number_passes_the_largest_byte(void **state)
{
	struct pair_numbers numbers;

	assert_int_equal(0, pair_numbers_init(&numbers, HOSTS));
	for (uint32_t host = 0; host < HOSTS; host++)
		pair_numbers_set(&numbers, host, 1);
	assert_non_null(numbers.small);
	for (uint32_t i = 1; i < 1000; i++)
		assert_int_equal(pair_numbers_take(&numbers, 7), i);
	pair_numbers_set(&numbers, 7, 3);
	assert_int_equal(pair_numbers_get(&numbers, 7), 3);
	assert_int_equal(pair_numbers_get(&numbers, 8), 1);
	pair_numbers_fini(&numbers);
}

static void numbers_of_all_hosts_take_a_byte_each(void **state)
{
	struct pair_numbers numbers;

	assert_int_equal(0, pair_numbers_init(&numbers, HOSTS));
	for (uint32_t host = 0; host < HOSTS; host++)
		pair_numbers_set(&numbers, host, PAIR_NUMBERS_LARGE - 1);
	assert_non_null(numbers.small);
	assert_true(sizeof(*numbers.entry) << numbers.bits <= HOSTS);
	pair_numbers_fini(&numbers);
}

static void numbers_of_few_hosts_take_room_for_few(void **state)
{
	struct pair_numbers numbers;

	assert_int_equal(0, pair_numbers_init(&numbers, HOSTS));
	for (uint32_t i = 0; i < 100000; i++)
		pair_numbers_take(&numbers, i % 6 * 100);
	assert_null(numbers.small);
	assert_int_equal(numbers.used, 6);
	assert_true(numbers.bits <= 4);
	pair_numbers_fini(&numbers);
}

/* Whichever allocation fails, the next one has memory again. */
static void no_number_is_lost_when_memory_is_short_once(void **state)
{
	unsigned nth = 0;

	do {
		struct pair_numbers numbers;

		assert_int_equal(0, pair_numbers_init(&numbers, HOSTS));
		failing = ++nth;
		for (uint32_t host = 0; host < HOSTS; host++) {
			pair_numbers_set(&numbers, host, host % 300 + 1);
			assert_int_equal(pair_numbers_get(&numbers, host / 2), host / 2 % 300 + 1);
		}
		for (uint32_t host = 0; host < HOSTS; host++)
			assert_int_equal(pair_numbers_get(&numbers, host), host % 300 + 1);
		assert_false(numbers.failed);
		pair_numbers_fini(&numbers);
	} while (failing == 0); /* until no allocation was the one that fails */
	failing = 0;
	assert_true(nth > 5);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(numbers_are_those_of_an_array),
	cmocka_unit_test(a_number_passes_the_largest_byte),
	cmocka_unit_test(numbers_of_all_hosts_take_a_byte_each),
	cmocka_unit_test(numbers_of_few_hosts_take_room_for_few),
	cmocka_unit_test(no_number_is_lost_when_memory_is_short_once),
};

UNIT_MAIN(tests)
