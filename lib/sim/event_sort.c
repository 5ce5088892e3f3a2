/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "event_queue.h"

#include <stdlib.h>

#define LANES 4u

/* Four keys, in one register if the processor has registers of this width. */
typedef int64_t four_keys __attribute__((vector_size(32), aligned(8)));

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Insertion sort, for equal keys. */
static void insert_all(uint64_t *key, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint64_t this_key = key[i];
		uint32_t at = i;

		for (; at > 0 && this_key < key[at - 1]; at--)
			key[at] = key[at - 1];
		key[at] = this_key;
	}
}

void event_sort_many(uint64_t *key, uint32_t count)
{
	qsort(key, count, sizeof(*key), compare);
}

/* 'room', a constant, is 'count' rounded up. Entries after 'count' compare greater than all keys,
 * and are placed after the last one. Loops have constant trip counts, because mispredicting their
 * exits would cost more. */
static inline __attribute__((always_inline)) void place_all(
	const uint64_t *key, uint32_t count, uint64_t *sorted, const uint32_t room)
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
	for (uint32_t k = 0; k < room; k++)
		sorted[rank[k / LANES][k % LANES]] = key[k];
	for (uint32_t i = 0; i < room / LANES; i++)
		seen += rank[i];
	sum = seen[0] + seen[1] + seen[2] + seen[3];
	/* Otherwise, equal keys took the same place, which is rare. */
	if (__builtin_expect(sum == end * (end - 1) / 2 + (room - end) * end, 1))
		return;
	for (uint32_t k = 0; k < count; k++)
		sorted[k] = key[k];
	insert_all(sorted, count);
}

void event_sort_few(const uint64_t *key, uint32_t count, uint64_t *sorted)
{
	if (count <= EVENT_SORT_FEW / 4)
		place_all(key, count, sorted, EVENT_SORT_FEW / 4);
	else if (count <= EVENT_SORT_FEW / 2)
		place_all(key, count, sorted, EVENT_SORT_FEW / 2);
	else
		place_all(key, count, sorted, EVENT_SORT_FEW);
}
