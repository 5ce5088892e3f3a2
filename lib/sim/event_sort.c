/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_sort.h"

#include <stdlib.h>
#include <string.h>

/* Up to here counting n^2 comparisons, four at a time, is quicker than sorting. */
#define COUNTED_MAX 32u

/* Four keys in one register where the processor has such, in more where it has not. */
typedef int64_t four_keys __attribute__((vector_size(32), aligned(8)));

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

/* Insertion: for what is nearly sorted, and when there is no memory for more. */
static void insert_all(const uint64_t *key, const uint32_t *item, uint32_t count, uint64_t *to_key,
	uint32_t *to_item)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = i;

		for (; at > 0 && (key[i] < to_key[at - 1] ||
					 (key[i] == to_key[at - 1] && item[i] < to_item[at - 1]));
			at--) {
			to_key[at] = to_key[at - 1];
			to_item[at] = to_item[at - 1];
		}
		to_key[at] = key[i];
		to_item[at] = item[i];
	}
}

static void sort_many(const uint64_t *key, const uint32_t *item, uint32_t count, uint64_t *to_key,
	uint32_t *to_item)
{
	struct pair *pair = malloc(count * sizeof(*pair));

	if (pair == NULL) {
		insert_all(key, item, count, to_key, to_item);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		pair[i] = (struct pair){key[i], item[i]};
	qsort(pair, count, sizeof(*pair), compare);
	for (uint32_t i = 0; i < count; i++) {
		to_key[i] = pair[i].key;
		to_item[i] = pair[i].item;
	}
	free(pair);
}

/* rank[i]: how many keys are less than key[i]. */
static inline void count_less(const uint64_t *key, uint32_t count, int64_t *rank)
{
	for (uint32_t i = 0; i < count; i += EVENT_SORT_ALIGN) {
		const four_keys *mine = (const four_keys *)(const void *)&key[i];
		four_keys before[2] = {{0}, {0}};

		/* True is -1. */
		for (uint32_t k = 0; k < count; k++) {
			int64_t one = (int64_t)key[k];
			const four_keys other = {one, one, one, one};

			before[0] -= mine[0] > other;
			before[1] -= mine[1] > other;
		}
		memcpy(&rank[i], before, sizeof(before));
	}
}

void event_sort(
	uint64_t *key, const uint32_t *item, uint32_t count, uint64_t *to_key, uint32_t *to_item)
{
	int64_t rank[COUNTED_MAX], sum = 0;

	if (count > COUNTED_MAX) {
		sort_many(key, item, count, to_key, to_item);
		return;
	}
	for (uint32_t i = count; i % EVENT_SORT_ALIGN != 0; i++)
		key[i] = INT64_MAX;
	count_less(key, count, rank);
	for (uint32_t i = 0; i < count; i++) {
		to_key[rank[i]] = key[i];
		to_item[rank[i]] = item[i];
		sum += rank[i];
	}
	/* Equal keys have taken the same place: rare, and their items decide. */
	if (__builtin_expect(sum != (int64_t)count * (count - 1) / 2, 0))
		insert_all(key, item, count, to_key, to_item);
}
