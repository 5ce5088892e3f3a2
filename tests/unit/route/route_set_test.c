/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route/route_set.h"

#include "base/rng.h"
#include "unit.h"

static int set_up(void **state)
{
	*state = route_set_create(20);
	return *state == NULL;
}

static int tear_down(void **state)
{
	route_set_destroy(*state);
	return 0;
}

#define TEST(name) UNIT_WITH(name, set_up, tear_down)

TEST(a_new_set_has_no_routes)
{
	unsigned length;

	assert_int_equal(route_set_count(*state, 3, 4), 0);
	assert_null(route_set_get(*state, 3, 4, 0, &length));
}

TEST(routes_come_back_in_the_order_in_which_they_were_added)
{
	const uint8_t *route;
	unsigned length;

	for (uint8_t i = 1; i <= ROUTE_ALTERNATIVES_MAX; i++) {
		uint8_t bytes[ROUTE_ELEMENTS_MAX];

		memset(bytes, i, sizeof(bytes));
		assert_int_equal(route_set_add(*state, 3, 4, bytes, i), 0);
	}
	assert_int_equal(route_set_count(*state, 3, 4), ROUTE_ALTERNATIVES_MAX);
	for (uint8_t i = 1; i <= ROUTE_ALTERNATIVES_MAX; i++) {
		route = route_set_get(*state, 3, 4, i - 1u, &length);
		assert_int_equal(length, i);
		assert_int_equal(route[0], i);
		assert_int_equal(route[length - 1], i);
	}
	assert_null(route_set_get(*state, 3, 4, ROUTE_ALTERNATIVES_MAX, &length));
}

TEST(an_eleventh_route_is_refused_and_changes_nothing)
{
	const uint8_t route[2] = {0x80, ROUTE_TYPE_HOST};

	for (unsigned i = 0; i < ROUTE_ALTERNATIVES_MAX; i++)
		assert_int_equal(route_set_add(*state, 0, 1, route, 2), 0);
	assert_int_equal(route_set_add(*state, 0, 1, route, 2), -ENOSPC);
	assert_int_equal(route_set_count(*state, 0, 1), ROUTE_ALTERNATIVES_MAX);
}

TEST(what_cannot_be_a_route_is_refused)
{
	const uint8_t route[ROUTE_ELEMENTS_MAX + 1] = {0};

	assert_int_equal(route_set_add(*state, 0, 0, route, 2), -EINVAL);
	assert_int_equal(route_set_add(*state, 0, 20, route, 2), -EINVAL);
	assert_int_equal(route_set_add(*state, 20, 0, route, 2), -EINVAL);
	assert_int_equal(route_set_add(*state, 0, 1, route, 0), -EINVAL);
	assert_int_equal(route_set_add(*state, 0, 1, route, ROUTE_ELEMENTS_MAX + 1), -EINVAL);
	assert_int_equal(route_set_add(*state, 0, 1, route, ROUTE_ELEMENTS_MAX), 0);
}

/* Any order of pairs, compared with a plain array. */
TEST(routes_of_different_pairs_do_not_disturb_each_other)
{
	static uint8_t model[20][20][ROUTE_ALTERNATIVES_MAX][ROUTE_ELEMENTS_MAX + 1];
	static unsigned count[20][20];
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 3000; i++) {
		unsigned source = (unsigned)rng_below(&rng, 20), to = (unsigned)rng_below(&rng, 20);
		uint8_t *route = model[source][to][count[source][to]];

		if (source == to || count[source][to] == ROUTE_ALTERNATIVES_MAX)
			continue;
		route[0] = (uint8_t)(1 + rng_below(&rng, ROUTE_ELEMENTS_MAX));
		for (unsigned k = 1; k <= route[0]; k++)
			route[k] = (uint8_t)rng_next(&rng);
		assert_int_equal(route_set_add(*state, source, to, route + 1, route[0]), 0);
		count[source][to]++;
	}
	for (unsigned source = 0; source < 20; source++)
		for (unsigned to = 0; to < 20; to++) {
			assert_int_equal(route_set_count(*state, source, to), count[source][to]);
			for (unsigned i = 0; i < count[source][to]; i++) {
				unsigned length;
				const uint8_t *route =
					route_set_get(*state, source, to, i, &length);

				assert_int_equal(length, model[source][to][i][0]);
				assert_memory_equal(route, model[source][to][i] + 1, length);
			}
		}
}

TEST(hosts_out_of_range_have_no_routes)
{
	assert_int_equal(route_set_count(*state, 20, 1), 0);
	assert_int_equal(route_set_count(*state, 1, UINT32_MAX), 0);
}
