/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/selectors/route_choice.h"

#include "unit.h"

#define HOSTS 5
#define RATE  160000000 * UINT64_C(8) /* a byte takes 6.25 ns on the thesis' links */

static uint8_t sets[HOSTS * ROUTE_CHOICE_ROUTES_MAX];

static struct route_choice start_with(const char *name, const struct route_choice_options *options)
{
	struct route_choice choice;

	assert_non_null(route_choice_find(name));
	assert_int_equal(
		0, route_choice_init(&choice, route_choice_find(name), options, 5, 0, HOSTS));
	return choice;
}

static struct route_choice start(const char *name)
{
	struct route_choice_options options = route_choice_options_default();

	options.rate_bps = RATE;
	options.sets = sets;
	memset(sets, 1, sizeof(sets));
	return start_with(name, &options);
}

/* The sets of the routes to destination 1. */
static void belong(unsigned a, unsigned b, unsigned c)
{
	sets[ROUTE_CHOICE_ROUTES_MAX] = (uint8_t)a;
	sets[ROUTE_CHOICE_ROUTES_MAX + 1] = (uint8_t)b;
	sets[ROUTE_CHOICE_ROUTES_MAX + 2] = (uint8_t)c;
}

static unsigned choose(struct route_choice *choice, unsigned count, uint32_t bytes)
{
	return route_choice_choose(choice, 1, count, bytes);
}

/* A message of 512 bytes over route 'index' took 'tenths' tenths of the time that it takes
 * alone. */
static void sent(struct route_choice *choice, unsigned count, unsigned index, unsigned tenths)
{
	const weft_time start = 1000, alone = 512 * 6250;

	route_choice_sent(choice, 1, count, index, start, start + alone * tenths / 10, 512);
}

UNIT_TEST(choices_are_found_by_their_names)
{
	for (unsigned i = 0; i < route_choices.count; i++)
		assert_ptr_equal(route_choice_find(name_table_name(route_choices.entry[i])),
			route_choices.entry[i]);
	assert_null(route_choice_find("last"));
}

UNIT_TEST(one_route_is_not_asked_about)
{
	for (unsigned i = 0; i < route_choices.count; i++) {
		OWNED(route_choice) choice = start(name_table_name(route_choices.entry[i]));

		assert_int_equal(choose(&choice, 1, 512), 0);
		sent(&choice, 1, 0, 90);
	}
}

UNIT_TEST(first_takes_the_first)
{
	OWNED(route_choice) choice = start("first");

	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(route_choice_choose(&choice, (uint16_t)(i % HOSTS), 10, 512), 0);
}

UNIT_TEST(round_robin_takes_turns_for_each_destination)
{
	OWNED(route_choice) choice = start("round-robin");

	for (unsigned i = 0; i < 60; i++)
		for (uint16_t to = 0; to < HOSTS; to++)
			assert_int_equal(
				route_choice_choose(&choice, to, 2u + to, 512), i % (2u + to));
}

UNIT_TEST(random_takes_all_equally_often)
{
	OWNED(route_choice) choice = start("random");
	unsigned taken[10] = {0};

	for (unsigned i = 0; i < 100000; i++)
		taken[choose(&choice, 10, 512)]++;
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(taken[i], 9600, 10400); /* 4 sigma: 380 */
}

UNIT_TEST(contention_takes_the_least_coefficient)
{
	OWNED(route_choice) choice = start("contention");

	assert_int_equal(choose(&choice, 3, 512), 0); /* all 1.0 */
	sent(&choice, 3, 0, 30);
	assert_int_equal(choose(&choice, 3, 512), 1);
	sent(&choice, 3, 1, 20);
	assert_int_equal(choose(&choice, 3, 512), 2);
	sent(&choice, 3, 2, 40);
	assert_int_equal(choose(&choice, 3, 512), 1);
}

UNIT_TEST(a_coefficient_is_the_time_over_the_time_alone_whatever_the_size)
{
	OWNED(route_choice) choice = start("contention");

	for (uint32_t bytes = 1; bytes <= 1 << 20; bytes *= 4) {
		route_choice_sent(&choice, 1, 2, 0, 77, 77 + bytes * UINT64_C(6250) * 5 / 2, bytes);
		assert_int_equal(*route_choice_coefficient(&choice, 1, 0), 2500);
	}
}

UNIT_TEST(a_coefficient_is_never_below_one_nor_above_what_fits)
{
	OWNED(route_choice) choice = start("contention");

	route_choice_sent(&choice, 1, 2, 0, 1000, 1001, 512);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), ROUTE_CHOICE_ONE);
	route_choice_sent(&choice, 1, 2, 0, 1000, 999, 512);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), ROUTE_CHOICE_ONE);
	route_choice_sent(&choice, 1, 2, 0, 0, WEFT_TIME_NEVER - 1, 1);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), UINT32_MAX);
	route_choice_sent(&choice, 1, 2, 0, 0, PS_PER_S, 1);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), UINT32_MAX);
}

UNIT_TEST(each_message_makes_the_other_routes_forget_a_tenth_down_to_one)
{
	OWNED(route_choice) choice = start("contention");
	unsigned messages = 0;

	sent(&choice, 3, 0, 25);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), 2500);
	while (choose(&choice, 3, 512) != 0) {
		sent(&choice, 3, 1, 10); /* not itself */
		messages++;
		assert_int_equal(*route_choice_coefficient(&choice, 1, 0), 2500 - 100 * messages);
	}
	assert_int_equal(messages, 15);
	sent(&choice, 3, 1, 10);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), ROUTE_CHOICE_ONE);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 2), ROUTE_CHOICE_ONE);
}

UNIT_TEST(a_destination_learns_nothing_from_another)
{
	OWNED(route_choice) choice = start("contention");

	sent(&choice, 2, 0, 90);
	assert_int_equal(route_choice_choose(&choice, 1, 2, 512), 1);
	for (uint16_t to = 2; to < HOSTS; to++) {
		assert_int_equal(route_choice_choose(&choice, to, 2, 512), 0);
		route_choice_sent(&choice, to, 2, 1, 0, 1, 512);
	}
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), 9000);
}

UNIT_TEST(short_messages_take_the_set_with_few_itbs_and_long_ones_the_other)
{
	OWNED(route_choice) choice = start("message-length");

	belong(1, 1, 2);
	assert_int_equal(choose(&choice, 3, 32), 0);
	assert_int_equal(choose(&choice, 3, 64), 0);
	assert_int_equal(choose(&choice, 3, 65), 2);
	assert_int_equal(choose(&choice, 3, 512), 2);
	belong(2, 1, 2); /* in any order */
	assert_int_equal(choose(&choice, 3, 32), 1);
	assert_int_equal(choose(&choice, 3, 512), 0);
	belong(1, 3, 1); /* a route that both sets have */
	assert_int_equal(choose(&choice, 3, 512), 1);
}

UNIT_TEST(the_named_share_of_messages_takes_the_first_set)
{
	struct route_choice_options options = route_choice_options_default();
	OWNED(route_choice) choice;
	unsigned taken[2] = {0};

	memset(sets, 1, sizeof(sets));
	belong(1, 2, 0);
	options.sets = sets;
	options.first_set_ppm = 300000;
	choice = start_with("fraction", &options);
	for (unsigned i = 0; i < 100000; i++)
		taken[choose(&choice, 2, 512)]++;
	assert_in_range(taken[0], 29400, 30600); /* 4 sigma: 580 */
}

UNIT_TEST(detect_leaves_the_first_set_only_above_one_and_k)
{
	static const unsigned k[] = {1, 2};

	for (unsigned i = 0; i < 2; i++) {
		struct route_choice_options options = route_choice_options_default();
		OWNED(route_choice) choice;

		options.rate_bps = RATE;
		options.sets = sets;
		options.threshold[0] = k[i] * ROUTE_CHOICE_ONE;
		memset(sets, 1, sizeof(sets));
		belong(1, 2, 0);
		choice = start_with("detect", &options);
		assert_int_equal(choose(&choice, 2, 32), 0);
		sent(&choice, 2, 0, (1 + k[i]) * 10);
		assert_int_equal(choose(&choice, 2, 32), 0);
		sent(&choice, 2, 0, (1 + k[i]) * 10 + 1);
		assert_int_equal(choose(&choice, 2, 32), 1);
		/* Forgetting makes it usable again. */
		sent(&choice, 2, 1, 10);
		assert_int_equal(choose(&choice, 2, 32), 0);
		/* The coefficients of the other set do not send messages back. */
		sent(&choice, 2, 0, (1 + k[i]) * 10 + 5);
		sent(&choice, 2, 1, 500);
		assert_int_equal(choose(&choice, 2, 32), 1);
	}
}

UNIT_TEST(detect_short_detects_for_short_messages_alone)
{
	OWNED(route_choice) choice = start("detect-short");

	belong(1, 2, 0);
	assert_int_equal(choose(&choice, 2, 32), 0);
	assert_int_equal(choose(&choice, 2, 512), 1);
	sent(&choice, 2, 0, 20);
	assert_int_equal(choose(&choice, 2, 32), 0); /* not above 1 + 1 */
	sent(&choice, 2, 0, 25);
	assert_int_equal(choose(&choice, 2, 32), 1);
	sent(&choice, 2, 1, 90);
	assert_int_equal(choose(&choice, 2, 32), 1);
	assert_int_equal(choose(&choice, 2, 512), 1);
}

UNIT_TEST(three_sets_go_up_by_two_thresholds)
{
	OWNED(route_choice) choice = start("three-sets");

	belong(1, 2, 4);
	assert_int_equal(choose(&choice, 3, 32), 0);
	sent(&choice, 3, 0, 20);
	assert_int_equal(choose(&choice, 3, 32), 0); /* not above 1 + 1 */
	sent(&choice, 3, 0, 60);
	assert_int_equal(choose(&choice, 3, 32), 1);
	sent(&choice, 3, 1, 30);
	assert_int_equal(choose(&choice, 3, 32), 1); /* not above 1 + 2 */
	sent(&choice, 3, 1, 40);
	assert_int_equal(choose(&choice, 3, 32), 2);
	sent(&choice, 3, 2, 200);
	assert_int_equal(choose(&choice, 3, 32), 2); /* nothing comes after it */
}

UNIT_TEST(with_three_sets_only_the_one_before_is_forgotten)
{
	OWNED(route_choice) choice = start("three-sets");
	uint32_t first;

	belong(1, 2, 4);
	sent(&choice, 3, 0, 22);
	sent(&choice, 3, 1, 32);
	first = *route_choice_coefficient(&choice, 1, 0);
	assert_int_equal(first, 2100); /* the second set's message made it forget */
	assert_int_equal(choose(&choice, 3, 32), 2);
	for (unsigned i = 0; i < 2; i++)
		sent(&choice, 3, 2, 10);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 0), first);
	assert_int_equal(*route_choice_coefficient(&choice, 1, 1), 3000);
	assert_int_equal(choose(&choice, 3, 32), 1);
	sent(&choice, 3, 1, 10);
	assert_int_equal(choose(&choice, 3, 32), 0);
}

UNIT_TEST(a_route_of_two_sets_stands_for_both)
{
	OWNED(route_choice) choice = start("three-sets");

	belong(3, 4, 0);
	assert_int_equal(choose(&choice, 2, 32), 0);
	sent(&choice, 2, 0, 25);
	assert_int_equal(choose(&choice, 2, 32), 0); /* as the second set's, up to 3.0 */
	sent(&choice, 2, 0, 35);
	assert_int_equal(choose(&choice, 2, 32), 1);
}
