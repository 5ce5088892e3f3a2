/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_pool.h"

#include "rng.h"
#include "unit.h"

static void what_fits_exactly_is_taken(void **state)
{
	struct itb_pool pool;

	(void)state;
	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 999));
	assert_true(itb_pool_take(&pool, 1));
	assert_int_equal(itb_pool_free(&pool), 0);
	assert_int_equal(pool.overflows, 0);
}

static void what_does_not_fit_is_refused_whole_and_counted(void **state)
{
	struct itb_pool pool;

	(void)state;
	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 600));
	assert_false(itb_pool_take(&pool, 401));
	assert_false(itb_pool_take(&pool, UINT64_MAX));
	assert_int_equal(pool.used, 600);
	assert_int_equal(pool.overflows, 2);
	assert_int_equal(pool.overflow_bytes, 401 + UINT64_MAX);
	assert_true(itb_pool_take(&pool, 400));
}

static void what_was_given_back_can_be_taken_again(void **state)
{
	struct itb_pool pool;

	(void)state;
	itb_pool_init(&pool, 1000);
	assert_true(itb_pool_take(&pool, 1000));
	itb_pool_give(&pool, 300);
	itb_pool_give(&pool, 200);
	assert_true(itb_pool_take(&pool, 500));
	assert_false(itb_pool_take(&pool, 1));
	assert_int_equal(pool.peak, 1000);
}

static void a_pool_is_never_over(void **state)
{
	uint64_t held[64] = {0}, sum = 0, refused = 0;
	struct itb_pool pool;
	struct rng rng;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_exactly_is_taken),
		cmocka_unit_test(what_does_not_fit_is_refused_whole_and_counted),
		cmocka_unit_test(what_was_given_back_can_be_taken_again),
		cmocka_unit_test(a_pool_is_never_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
