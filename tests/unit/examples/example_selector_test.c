/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_selector.c, works as the page claims. */

#include "nic/selectors/route_choice.h"
#include "unit.h"

extern const struct route_choice_ops route_choice_two_choices;

#define ROUTES   4
#define MESSAGES 16000

static void count(struct route_choice *choice, unsigned taken[ROUTES])
{
	memset(taken, 0, ROUTES * sizeof(taken[0]));
	for (unsigned i = 0; i < MESSAGES; i++)
		taken[route_choice_choose(choice, 0, ROUTES, 100)]++;
}

static struct route_choice start(void)
{
	struct route_choice_options options = route_choice_options_default();
	struct route_choice choice;

	options.rate_bps = 8000000000; /* a byte in 1 ns */
	assert_int_equal(
		route_choice_init(&choice, &route_choice_two_choices, &options, 1, 0, 1), 0);
	return choice;
}

UNIT_TEST(routes_that_show_the_same_are_equally_likely)
{
	OWNED(route_choice) choice = start();
	unsigned taken[ROUTES];

	count(&choice, taken);
	for (unsigned i = 0; i < ROUTES; i++)
		assert_in_range(taken[i], MESSAGES / ROUTES * 9 / 10, MESSAGES / ROUTES * 11 / 10);
}

/* Two draws out of four both select the contended route once in 16 cases. */
UNIT_TEST(a_contended_route_is_taken_only_if_drawn_twice)
{
	OWNED(route_choice) choice = start();
	unsigned taken[ROUTES];

	route_choice_sent(&choice, 0, ROUTES, 2, 0, 1000 * PS_PER_NS, 100);
	count(&choice, taken);
	assert_in_range(taken[2], MESSAGES / 16 * 8 / 10, MESSAGES / 16 * 12 / 10);
}
