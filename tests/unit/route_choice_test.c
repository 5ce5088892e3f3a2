/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

#include "unit.h"

#define HOSTS 5

static struct route_choice start(const char *name, uint8_t next[HOSTS])
{
	struct route_choice choice = {.ops = route_choice_find(name), .next = next};

	assert_non_null(choice.ops);
	for (unsigned i = 0; i < HOSTS; i++)
		next[i] = 0;
	rng_init(&choice.rng, 5, 0, 0);
	return choice;
}

static void choices_are_found_by_their_names(void **state)
{
	for (unsigned i = 0; route_choice_at(i) != NULL; i++)
		assert_ptr_equal(route_choice_find(route_choice_at(i)->name), route_choice_at(i));
	assert_null(route_choice_find("last"));
}

static void first_takes_the_first(void **state)
{
	uint8_t next[HOSTS];
	struct route_choice choice = start("first", next);

	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(choice.ops->choose(&choice, (uint16_t)(i % HOSTS), 10), 0);
}

static void round_robin_takes_turns_for_each_destination(void **state)
{
	uint8_t next[HOSTS];
	struct route_choice choice = start("round-robin", next);

	for (unsigned i = 0; i < 60; i++)
		for (uint16_t to = 0; to < HOSTS; to++)
			assert_int_equal(choice.ops->choose(&choice, to, 2u + to), i % (2u + to));
}

static void random_takes_all_equally_often(void **state)
{
	uint8_t next[HOSTS];
	struct route_choice choice = start("random", next);
	unsigned taken[10] = {0};

	for (unsigned i = 0; i < 100000; i++)
		taken[choice.ops->choose(&choice, 1, 10)]++;
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(taken[i], 9600, 10400); /* 4 sigma: 380 */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(choices_are_found_by_their_names),
	cmocka_unit_test(first_takes_the_first),
	cmocka_unit_test(round_robin_takes_turns_for_each_destination),
	cmocka_unit_test(random_takes_all_equally_often),
};

UNIT_MAIN(tests)
