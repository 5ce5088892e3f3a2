/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Sorts the events of a bucket: few, in random order, so that a usual sort would mispredict a
 * branch for each. Instead it computes each event's rank, the number of events before it, several
 * comparisons at a time and without branches. Keys are below 2^63 - 1. */

#include <stdint.h>

#define EVENT_SORT_FEW 32u

/* Sorts 'count' <= EVENT_SORT_FEW keys. Both arrays have room for EVENT_SORT_FEW, the sorted one
 * for one more; entries after 'count' are read and written. */
void event_sort_few(const uint64_t *key, uint32_t count, uint64_t *sorted);

/* Sorts any number in place. */
void event_sort_many(uint64_t *key, uint32_t count);
