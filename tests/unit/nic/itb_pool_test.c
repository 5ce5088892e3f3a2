/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/itb_pool.h"

#include "base/rng.h"
#include "unit.h"

UNIT_TEST(what_fits_exactly_is_taken)
{
	struct itb_pool pool;

	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 999));
	assert_true(itb_pool_take(&pool, 1));
	assert_int_equal(itb_pool_free(&pool), 0);
	assert_int_equal(pool.overflows, 0);
}

UNIT_TEST(what_does_not_fit_is_refused_whole_and_counted)
{
	struct itb_pool pool;

	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 600));
	assert_false(itb_pool_take(&pool, 401));
	assert_false(itb_pool_take(&pool, UINT64_MAX));
	assert_int_equal(pool.used, 600);
	assert_int_equal(pool.overflows, 2);
	assert_int_equal(pool.overflow_bytes, 401 + UINT64_MAX);
	assert_true(itb_pool_take(&pool, 400));
}

UNIT_TEST(what_was_given_back_can_be_taken_again)
{
	struct itb_pool pool;

	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 1000));
	itb_pool_give(&pool, 300);
	itb_pool_give(&pool, 200);
	assert_true(itb_pool_take(&pool, 500));
	assert_false(itb_pool_take(&pool, 1));
	assert_int_equal(pool.peak, 1000);
}

UNIT_TEST(a_pool_is_never_over)
{
	uint64_t held[64] = {0}, sum = 0, refused = 0;
	struct itb_pool pool;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	itb_pool_init(&pool, 8192);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned at = (unsigned)rng_below(&rng, 64);
		uint64_t bytes = rng_below(&rng, 1000) + 1;
		bool fits;

		itb_pool_give(&pool, held[at]);
		sum -= held[at];
		held[at] = 0;
		fits = sum + bytes <= 8192;
		assert_int_equal(itb_pool_take(&pool, bytes), fits);
		if (fits)
			sum += held[at] = bytes;
		refused += !fits;
		assert_int_equal(pool.used, sum);
		assert_int_equal(pool.overflows, refused);
		assert_true(pool.used <= pool.size && pool.used <= pool.peak);
	}
	assert_true(refused > 1000);
}
