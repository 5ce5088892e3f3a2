/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/pair_numbers.h"

#include "base/rng.h"
#include "unit.h"

#define HOSTS 4096u

/* Which of the next allocations fails, from 1; 0: none. */
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

#define STEP 3u

static uint32_t memory[HOSTS * STEP];

static void init(struct pair_numbers *numbers, enum pair_numbers_kind kind, uint32_t hosts)
{
	const struct pair_memory given = {memory, STEP};

	memset(memory, 0, sizeof(memory));
	assert_int_equal(0,
		pair_numbers_init(numbers, kind, hosts, kind == PAIR_NUMBERS_FEW ? NULL : &given));
}

/* The memory between the numbers in the caller's memory belongs to others. */
static void expect_no_more_than_the_numbers(enum pair_numbers_kind kind)
{
	const uint8_t *bytes = (const uint8_t *)memory;

	for (uint32_t i = 0; i < HOSTS * STEP; i++)
		if (i % STEP != 0)
			assert_int_equal(kind == PAIR_NUMBERS_ALL ? memory[i] : bytes[i], 0);
}

/* Like pair_numbers_pass(), on an array. */
static bool pass(uint32_t *array, uint32_t host, uint32_t sequence)
{
	if ((int32_t)(sequence - array[host]) < 0)
		return false;
	array[host] = sequence + 1;
	return true;
}

/* Numbers below 'max', of the last 'talk' hosts. */
static void check_against_array(
	enum pair_numbers_kind kind, uint32_t hosts, uint32_t talk, unsigned steps, uint32_t max)
{
	static uint32_t array[HOSTS];
	OWNED(pair_numbers) numbers;
	struct rng rng;

	memset(array, 0, sizeof(array));
	rng_init(&rng, hosts, talk, max);
	init(&numbers, kind, hosts);
	for (unsigned i = 0; i < steps; i++) {
		uint32_t host = hosts - 1 - (uint32_t)rng_below(&rng, talk);
		uint32_t value = (uint32_t)rng_below(&rng, max);

		assert_int_equal(pair_numbers_get(&numbers, host), array[host]);
		switch (rng_below(&rng, 3)) {
		case 0:
			assert_int_equal(pair_numbers_take(&numbers, host), array[host]++);
			break;
		case 1:
			assert_int_equal(
				pair_numbers_pass(&numbers, host, value), pass(array, host, value));
			break;
		default:
			array[host] = value;
			pair_numbers_set(&numbers, host, value);
		}
	}
	for (uint32_t host = 0; host < hosts; host++)
		assert_int_equal(pair_numbers_get(&numbers, host), array[host]);
	assert_false(numbers.failed);
	expect_no_more_than_the_numbers(kind);
}

/* For few hosts and all, few numbers and many. */
UNIT_TEST(numbers_are_those_of_an_array)
{
	for (enum pair_numbers_kind kind = PAIR_NUMBERS_ALL; kind <= PAIR_NUMBERS_FEW; kind++) {
		check_against_array(kind, 1, 1, 1000, UINT32_MAX);
		check_against_array(kind, HOSTS, 3, 10000, 300);
		check_against_array(kind, HOSTS, 200, 20000, UINT32_MAX);
		check_against_array(kind, HOSTS, HOSTS, 200000, 300);
		check_against_array(kind, HOSTS, HOSTS, 200000, UINT32_MAX);
		check_against_array(kind, 33, 33, 20000, 260);
	}
}

UNIT_TEST(a_number_is_in_its_byte_up_to_254)
{
	const uint8_t *byte = (const uint8_t *)memory + 7 * STEP;
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_BYTES, HOSTS);
	for (uint32_t i = 0; i < 254; i++)
		assert_int_equal(pair_numbers_take(&numbers, 7), i);
	assert_int_equal(*byte, 254);
	assert_null(numbers.entry);
	assert_int_equal(pair_numbers_take(&numbers, 7), 254);
	assert_int_equal(*byte, PAIR_NUMBERS_LARGE);
	assert_int_equal(numbers.used, 1);
	for (uint32_t i = 0; i < 1000; i++)
		assert_true(pair_numbers_pass(&numbers, 9, i));
	assert_int_equal(pair_numbers_get(&numbers, 7), 255);
	assert_int_equal(pair_numbers_get(&numbers, 8), 0);
	assert_int_equal(pair_numbers_get(&numbers, 9), 1000);
}

UNIT_TEST(a_large_number_can_become_small_again)
{
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_BYTES, HOSTS);
	pair_numbers_set(&numbers, 7, 1000);
	pair_numbers_set(&numbers, 7, 3);
	assert_int_equal(pair_numbers_take(&numbers, 7), 3);
	assert_int_equal(pair_numbers_get(&numbers, 7), 4);
}

UNIT_TEST(the_last_of_65536_hosts_has_a_number)
{
	for (enum pair_numbers_kind kind = PAIR_NUMBERS_ALL; kind <= PAIR_NUMBERS_FEW; kind++) {
		OWNED(pair_numbers) numbers;

		assert_int_equal(0, pair_numbers_init(&numbers, kind, PAIR_HOSTS_MAX, NULL));
		for (uint32_t host = 0; host < PAIR_HOSTS_MAX; host++)
			pair_numbers_set(&numbers, host, host);
		for (uint32_t host = 0; host < PAIR_HOSTS_MAX; host++)
			assert_int_equal(pair_numbers_get(&numbers, host), host);
		assert_false(numbers.failed);
	}
}

UNIT_TEST(small_numbers_of_all_hosts_take_a_byte_each)
{
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_FEW, HOSTS);
	for (uint32_t host = 0; host < HOSTS; host++)
		pair_numbers_set(&numbers, host, PAIR_NUMBERS_LARGE - 1);
	assert_int_equal(numbers.kind, PAIR_NUMBERS_BYTES);
	assert_true(sizeof(*numbers.entry) << numbers.bits <= HOSTS);
}

UNIT_TEST(small_numbers_in_the_memory_of_the_caller_take_no_other)
{
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_BYTES, HOSTS);
	for (uint32_t host = 0; host < HOSTS; host++)
		pair_numbers_set(&numbers, host, PAIR_NUMBERS_LARGE - 1);
	assert_null(numbers.entry);
	assert_ptr_equal(numbers.small, memory);
	expect_no_more_than_the_numbers(PAIR_NUMBERS_BYTES);
}

UNIT_TEST(large_numbers_of_all_hosts_take_four_bytes_each)
{
	for (enum pair_numbers_kind kind = PAIR_NUMBERS_BYTES; kind <= PAIR_NUMBERS_FEW; kind++) {
		OWNED(pair_numbers) numbers;

		init(&numbers, kind, HOSTS);
		for (uint32_t host = 0; host < HOSTS; host++)
			pair_numbers_set(&numbers, host, PAIR_NUMBERS_LARGE + host);
		assert_int_equal(numbers.kind, PAIR_NUMBERS_ALL);
		assert_null(numbers.entry);
		for (uint32_t host = 0; host < HOSTS; host++)
			assert_int_equal(
				pair_numbers_get(&numbers, host), PAIR_NUMBERS_LARGE + host);
	}
}

UNIT_TEST(numbers_of_few_hosts_take_room_for_few)
{
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_FEW, HOSTS);
	for (uint32_t i = 0; i < 100000; i++)
		pair_numbers_take(&numbers, i % 6 * 100);
	assert_int_equal(numbers.kind, PAIR_NUMBERS_FEW);
	assert_int_equal(numbers.used, 6);
	assert_true(numbers.bits <= 4);
}

/* Sets numbers of all hosts, from 'min' on, while the nth allocation fails. Returns false if there
 * were fewer. */
static bool nth_allocation_fails(enum pair_numbers_kind kind, unsigned nth, uint32_t min)
{
	OWNED(pair_numbers) numbers;
	bool failed;

	init(&numbers, kind, HOSTS);
	failing = nth;
	for (uint32_t host = 0; host < HOSTS; host++) {
		pair_numbers_set(&numbers, host, min + host % 300);
		assert_int_equal(pair_numbers_get(&numbers, host / 2), min + host / 2 % 300);
	}
	failed = failing == 0;
	failing = 0;
	for (uint32_t host = 0; host < HOSTS; host++)
		assert_int_equal(pair_numbers_get(&numbers, host), min + host % 300);
	assert_false(numbers.failed);
	return failed;
}

UNIT_TEST(no_number_is_lost_when_memory_is_short_once)
{
	const uint32_t min[] = {1, PAIR_NUMBERS_LARGE};

	for (unsigned i = 0; i < 2; i++) {
		unsigned nth = 1;

		while (nth_allocation_fails(PAIR_NUMBERS_FEW, nth, min[i]))
			nth++;
		assert_true(nth > 5);
		/* Without the first number, the table, the first large number would be lost. */
		for (nth = 2; nth_allocation_fails(PAIR_NUMBERS_BYTES, nth, min[i]);)
			nth++;
		assert_true(nth > 4);
	}
}

UNIT_TEST(a_number_for_which_there_was_no_memory_is_told_for_good)
{
	OWNED(pair_numbers) numbers;

	init(&numbers, PAIR_NUMBERS_BYTES, HOSTS);
	failing = 1;
	pair_numbers_set(&numbers, 5, PAIR_NUMBERS_LARGE);
	assert_true(numbers.failed);
	for (uint32_t host = 0; host < HOSTS; host++)
		pair_numbers_set(&numbers, host, PAIR_NUMBERS_LARGE);
	assert_int_equal(numbers.kind, PAIR_NUMBERS_ALL);
	assert_true(numbers.failed);
}
