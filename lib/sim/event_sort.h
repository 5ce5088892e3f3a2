/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Sorting the events of a bucket: few, in random order, and for each of them a branch of a usual
 * sort would be guessed wrongly. Here each event's place is counted, how many come before it,
 * several comparisons at a time and without branches. Keys are below 2^63 - 1.
 */

#include <stdint.h>

#define EVENT_SORT_FEW 32u

/* Sorts 'count' <= EVENT_SORT_FEW keys. Both arrays have room for EVENT_SORT_FEW, the sorted one
 * for one more; what is behind 'count' is read, and written. */
void event_sort_few(const uint64_t *key, uint32_t count, uint64_t *sorted);

/* Any number, where they are. */
void event_sort_many(uint64_t *key, uint32_t count);
