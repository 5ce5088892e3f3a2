/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Sorting the events of a bucket: few, in random order, and for each of them a branch of a usual
 * sort would be guessed wrongly. Here each event's place is counted, how many come before it,
 * several comparisons at a time and without branches; buckets that are too large for that go to
 * qsort().
 */

#include <stdint.h>

#define EVENT_SORT_ALIGN 8 /* 'key' has room for a multiple of as many */

/* Sorts 'count' events by (key, item) from (key, item) to (to_key, to_item). Keys are below 2^63.
 * The room of 'key' behind 'count' is written. */
void event_sort(
	uint64_t *key, const uint32_t *item, uint32_t count, uint64_t *to_key, uint32_t *to_item);
