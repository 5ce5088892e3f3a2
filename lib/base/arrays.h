/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Heap arrays for set-up, not per packet: sets that one owner frees together, and growing arrays.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arrays of one owner. A zeroed struct is an empty set. */
struct arrays {
	struct arrays_block *last;
	bool spills; /* use spill.h; set before the first allocation */
	bool failed; /* an allocation failed; check once after all allocations */
};

/* Allocates 'count' zeroed elements of 'size' bytes. If out of memory, sets 'failed' and returns
 * NULL. A 'count' of 0 is not an error. */
void *arrays_add(struct arrays *arrays, size_t count, size_t size);
/* Allocates the member array 'name' of an owner with a member 'arrays'. */
#define ARRAYS_ADD(owner, name, count) \
	((owner)->name = arrays_add(&(owner)->arrays, (count), sizeof(*(owner)->name)))
/* Frees all arrays and empties the set. */
void arrays_free(struct arrays *arrays);

/* Makes room for 'wanted' elements of 'size' bytes in a heap array. Capacity at least doubles, up
 * to UINT32_MAX elements. 'array' points to the array pointer, which may be NULL; '*room' is the
 * capacity in elements. Returns false, with nothing changed, if out of memory or if 'wanted'
 * exceeds UINT32_MAX. New elements are not zeroed. */
bool array_reserve(void *array, uint32_t *room, size_t wanted, size_t size);
/* The same for an array allocated with spill.h. */
bool array_reserve_spill(void *array, uint32_t *room, size_t wanted, size_t size);
