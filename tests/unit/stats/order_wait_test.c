/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "stats/lateness.h"

#include "base/rng.h"
#include "unit.h"

/* Random frames, some of which wait. The histogram of all releases, recorded directly, must equal
 * the one computed from arrivals and waits, byte for byte. */
UNIT_TEST(releases_follow_from_arrivals_and_waits)
{
	struct order_wait *wait = calloc(2, sizeof(*wait)), *other = &wait[1];
	struct histogram *all = calloc(3, sizeof(*all)), *expected = &all[1], *released = &all[2];
	struct rng rng;

	assert_non_null(wait);
	assert_non_null(all);
	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t latency = rng_next(&rng) >> (24 + i % 30), waited = rng_next(&rng) >> 40;
		struct order_wait *into = i % 2 == 0 ? wait : other;

		histogram_record(all, latency);
		if (i % 5 != 0)
			waited = 0;
		histogram_record(expected, latency + waited);
		if (waited == 0)
			continue;
		histogram_record(&into->network_arrived_ns, latency);
		histogram_record(&into->network_released_ns, latency + waited);
		histogram_record(&into->waited_ns, waited);
	}
	order_wait_merge(wait, other);
	order_wait_release(all, &wait->network_arrived_ns, &wait->network_released_ns, released);
	assert_memory_equal(released, expected, sizeof(*expected));
	assert_int_equal(all->sum + wait->waited_ns.sum, released->sum);
	order_wait_reset(wait);
	assert_int_equal(wait->waited_ns.count + wait->network_arrived_ns.count, 0);
	order_wait_release(all, &wait->network_arrived_ns, &wait->network_released_ns, released);
	assert_memory_equal(released, all, sizeof(*all));
	free(all);
	free(wait);
}
