/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sim/event_queue.h"

#include "base/rng.h"
#include "unit.h"

#define MANY 700

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Few different keys produce many equal ones. */
static void draw(struct rng *rng, uint32_t count, uint64_t keys, uint64_t *key)
{
	for (uint32_t i = 0; i < count; i++)
		key[i] = rng_below(rng, keys);
}

UNIT_TEST(few_come_out_as_qsort_has_them)
{
	uint64_t key[EVENT_SORT_FEW], wanted[EVENT_SORT_FEW], sorted[EVENT_SORT_FEW + 1];
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned turn = 0; turn < 20000; turn++) {
		uint32_t count = (uint32_t)rng_below(&rng, EVENT_SORT_FEW + 1);

		draw(&rng, count, turn % 2 == 0 ? 1ull << 62 : 1 + turn % 40, key);
		/* Remaining entries beyond the count must not matter. */
		for (uint32_t i = count; i < EVENT_SORT_FEW; i++)
			key[i] = rng_next(&rng);
		memcpy(wanted, key, count * sizeof(key[0]));
		qsort(wanted, count, sizeof(wanted[0]), compare);
		event_sort_few(key, count, sorted);
		assert_memory_equal(sorted, wanted, count * sizeof(wanted[0]));
	}
}

UNIT_TEST(many_come_out_as_qsort_has_them)
{
	static uint64_t key[MANY], wanted[MANY];
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned turn = 0; turn < 300; turn++) {
		uint32_t count = (uint32_t)rng_below(&rng, MANY + 1);

		draw(&rng, count, turn % 2 == 0 ? 1ull << 62 : 1 + turn, key);
		memcpy(wanted, key, count * sizeof(key[0]));
		qsort(wanted, count, sizeof(wanted[0]), compare);
		event_sort_many(key, count);
		assert_memory_equal(key, wanted, count * sizeof(wanted[0]));
	}
}
