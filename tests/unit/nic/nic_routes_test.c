/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/nic_routes.h"

#include <errno.h>

#include "base/rng.h"
#include "unit.h"
#include "wire/frame.h"

#define HOST_ROUTE(port)                                 \
	(const uint8_t[])                                \
	{                                                \
		ROUTE_PORT_BIT | (port), ROUTE_TYPE_HOST \
	}

UNIT_TEST(routes_come_back_as_they_were_added)
{
	OWNED(nic_routes) *routes = nic_routes_create(300);
	struct rng rng;

	for (unsigned pass = 0; pass < 2; pass++) {
		rng_init(&rng, 4, 0, 0);
		for (uint16_t to = 0; to < 300; to++) {
			unsigned count = 1 + (unsigned)rng_below(&rng, NIC_ROUTES_MAX);

			for (unsigned i = 0; i < count; i++) {
				unsigned bytes = 1 + (unsigned)rng_below(&rng, FRAME_ROUTE_MAX);
				uint8_t route[FRAME_ROUTE_MAX], length;

				memset(route, (int)(ROUTE_PORT_BIT | rng_below(&rng, 64)), bytes);
				route[bytes - 1] = ROUTE_TYPE_HOST;
				if (pass == 0) {
					assert_int_equal(
						nic_routes_add(routes, to, route, bytes), 0);
					continue;
				}
				assert_memory_equal(
					nic_routes_get(routes, to, i, &length), route, bytes);
				assert_int_equal(length, bytes);
			}
			assert_int_equal(routes->to[to].count, count);
		}
	}
}

UNIT_TEST(there_are_at_most_ten_alternatives)
{
	OWNED(nic_routes) *routes = nic_routes_create(2);

	for (unsigned i = 0; i < NIC_ROUTES_MAX; i++)
		assert_int_equal(nic_routes_add(routes, 1, HOST_ROUTE(i), 2), 0);
	assert_int_equal(nic_routes_add(routes, 1, HOST_ROUTE(0), 2), -ENOSPC);
}

UNIT_TEST(what_is_no_route_to_a_host_is_refused)
{
	static const uint8_t open_end[] = {0x81, 0x82}, early_end[] = {0x81, 1, 0x82, 1},
			     itb_end[] = {0x81, 2}, itb[] = {0x81, 2, 0x82, 1};
	uint8_t too_long[FRAME_ROUTE_MAX + 1];
	OWNED(nic_routes) *routes = nic_routes_create(4);

	memset(too_long, 0x81, sizeof(too_long));
	too_long[FRAME_ROUTE_MAX] = ROUTE_TYPE_HOST;
	assert_int_equal(nic_routes_add(routes, 1, open_end, 2), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 1, early_end, 4), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 1, itb_end, 2), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 1, too_long, FRAME_ROUTE_MAX + 1), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 1, open_end, 0), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 4, HOST_ROUTE(0), 2), -EINVAL);
	assert_false(nic_routes_reaches(routes, 1));
	assert_int_equal(nic_routes_add(routes, 1, itb, 4), 0);
}

UNIT_TEST(routes_of_a_destination_are_added_together)
{
	OWNED(nic_routes) *routes = nic_routes_create(4);

	assert_int_equal(nic_routes_add(routes, 1, HOST_ROUTE(0), 2), 0);
	assert_int_equal(nic_routes_add(routes, 2, HOST_ROUTE(0), 2), 0);
	assert_int_equal(nic_routes_add(routes, 1, HOST_ROUTE(1), 2), -EINVAL);
}

UNIT_TEST(a_destination_is_reached_by_route_or_by_table_or_not)
{
	OWNED(nic_routes) *routes = nic_routes_create(4);

	assert_int_equal(nic_routes_add(routes, 1, HOST_ROUTE(0), 2), 0);
	assert_int_equal(nic_routes_by_table(routes, 2), 0);
	assert_int_equal(nic_routes_by_table(routes, 1), -EINVAL);
	assert_int_equal(nic_routes_by_table(routes, 4), -EINVAL);
	assert_int_equal(nic_routes_add(routes, 2, HOST_ROUTE(0), 2), -EINVAL);
	assert_false(nic_routes_reaches(routes, 0));
	assert_true(nic_routes_reaches(routes, 1));
	assert_true(nic_routes_reaches(routes, 2));
	assert_false(nic_routes_reaches(routes, 4));
}
