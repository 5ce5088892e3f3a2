/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_sort.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "unit.h"

#define MANY 700

struct pair {
	uint64_t key;
	uint32_t item;
};

static int compare(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

/* Few different keys make many equal ones. */
static void draw(struct rng *rng, uint32_t count, uint64_t keys, struct pair *pair)
{
	for (uint32_t i = 0; i < count; i++)
		pair[i] = (struct pair){rng_below(rng, keys), (uint32_t)rng_next(rng)};
}

static void expect_sorted(
	struct pair *wanted, uint32_t count, const uint64_t *key, const uint32_t *item)
{
	qsort(wanted, count, sizeof(*wanted), compare);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(key[i], wanted[i].key);
		assert_int_equal(item[i], wanted[i].item);
	}
}

static void few_come_out_as_qsort_has_them(void **state)
{
	uint64_t key[EVENT_SORT_FEW], to_key[EVENT_SORT_FEW + 1];
	uint32_t item[EVENT_SORT_FEW], to_item[EVENT_SORT_FEW + 1];
	struct pair pair[EVENT_SORT_FEW];
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned turn = 0; turn < 20000; turn++) {
		uint32_t count = (uint32_t)rng_below(&rng, EVENT_SORT_FEW + 1);

		draw(&rng, count, turn % 2 == 0 ? 1ull << 62 : 1 + turn % 40, pair);
		/* Whatever is left behind the count must not matter. */
		for (uint32_t i = 0; i < EVENT_SORT_FEW; i++) {
			key[i] = i < count ? pair[i].key : rng_next(&rng);
			item[i] = i < count ? pair[i].item : 0;
		}
		event_sort_few(key, item, count, to_key, to_item);
		expect_sorted(pair, count, to_key, to_item);
	}
}

static void many_come_out_as_qsort_has_them(void **state)
{
	static struct pair pair[MANY];
	static uint64_t key[MANY];
	static uint32_t item[MANY];
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned turn = 0; turn < 300; turn++) {
		uint32_t count = (uint32_t)rng_below(&rng, MANY + 1);

		draw(&rng, count, turn % 2 == 0 ? 1ull << 62 : 1 + turn, pair);
		for (uint32_t i = 0; i < count; i++) {
			key[i] = pair[i].key;
			item[i] = pair[i].item;
		}
		event_sort_many(key, item, count);
		expect_sorted(pair, count, key, item);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(few_come_out_as_qsort_has_them),
	cmocka_unit_test(many_come_out_as_qsort_has_them),
};

UNIT_MAIN(tests)
