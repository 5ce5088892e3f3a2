/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_sort.h"

#include <stdbool.h>
#include <stdlib.h>

#define LANES 4u

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

static bool is_before(uint64_t key, uint32_t item, uint64_t other_key, uint32_t other_item)
{
	return key != other_key ? key < other_key : item < other_item;
}

/* By insertion: with equal keys, and when there is no memory for more. */
static void insert_all(uint64_t *key, uint32_t *item, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint64_t this_key = key[i];
		uint32_t this_item = item[i], at = i;

		for (; at > 0 && is_before(this_key, this_item, key[at - 1], item[at - 1]); at--) {
			key[at] = key[at - 1];
			item[at] = item[at - 1];
		}
		key[at] = this_key;
		item[at] = this_item;
	}
}

void event_sort_many(uint64_t *key, uint32_t *item, uint32_t count)
{
	struct pair *pair = malloc(count * sizeof(*pair));

	if (pair == NULL) {
		insert_all(key, item, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		pair[i] = (struct pair){key[i], item[i]};
	qsort(pair, count, sizeof(*pair), compare);
	for (uint32_t i = 0; i < count; i++) {
		key[i] = pair[i].key;
		item[i] = pair[i].item;
	}
	free(pair);
}

/*
 * 'room', a constant, is 'count' rounded up: what lies behind 'count' counts as greater than all,
 * and takes the place behind the last one. Loops of constant length: guessing their ends wrongly
 * would cost more than they do.
 */
static inline __attribute__((always_inline)) void place_all(const uint64_t *key,
	const uint32_t *item, uint32_t count, uint64_t *to_key, uint32_t *to_item,
	const uint32_t room)
{
	const int64_t end = count;
	four_keys mine[EVENT_SORT_FEW / LANES], rank[EVENT_SORT_FEW / LANES], seen = {0};
	int64_t sum;

	for (uint32_t i = 0; i < room / LANES; i++) {
		const int64_t at = i * LANES;
		const four_keys index = {at, at + 1, at + 2, at + 3};
		const four_keys in = index < end; /* true is -1 */

		mine[i] = *(const four_keys *)(const void *)&key[i * LANES];
		mine[i] = (mine[i] & in) | (INT64_MAX & ~in);
		rank[i] = (four_keys){0};
	}
	for (uint32_t k = 0; k < room; k++)
		for (uint32_t i = 0; i < room / LANES; i++)
			rank[i] -= mine[i] > mine[k / LANES][k % LANES];
	for (uint32_t k = 0; k < room; k++) {
		int64_t to = rank[k / LANES][k % LANES];

		to_key[to] = key[k];
		to_item[to] = item[k];
	}
	for (uint32_t i = 0; i < room / LANES; i++)
		seen += rank[i];
	sum = seen[0] + seen[1] + seen[2] + seen[3];
	/* Equal keys have taken the same place: rare, and their items decide. */
	if (__builtin_expect(sum == end * (end - 1) / 2 + (room - end) * end, 1))
		return;
	for (uint32_t k = 0; k < count; k++) {
		to_key[k] = key[k];
		to_item[k] = item[k];
	}
	insert_all(to_key, to_item, count);
}

void event_sort_few(const uint64_t *key, const uint32_t *item, uint32_t count, uint64_t *to_key,
	uint32_t *to_item)
{
	if (count <= EVENT_SORT_FEW / 4)
		place_all(key, item, count, to_key, to_item, EVENT_SORT_FEW / 4);
	else if (count <= EVENT_SORT_FEW / 2)
		place_all(key, item, count, to_key, to_item, EVENT_SORT_FEW / 2);
	else
		place_all(key, item, count, to_key, to_item, EVENT_SORT_FEW);
}
