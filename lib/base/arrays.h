/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Arrays on the heap: sets of arrays that one owner frees together, and arrays that grow. For
 * set-up, never per packet. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arrays of one owner. Empty if zero-initialised. */
struct arrays {
	struct arrays_block *last;
	bool spills; /* uses spill.h; set it before the first allocation */
	bool failed; /* an allocation failed; the owner checks this once, after all allocations */
};

/* 'count' zeroed elements of 'size' bytes. Returns NULL with 'failed' set if out of memory, but not
 * if 'count' is 0. */
void *arrays_add(struct arrays *arrays, size_t count, size_t size);
/* The same for the array 'name' of an owner that keeps its arrays in its member 'arrays'. */
#define ARRAYS_ADD(owner, name, count) \
	((owner)->name = arrays_add(&(owner)->arrays, (count), sizeof(*(owner)->name)))
/* Frees all of them; 'arrays' is empty again. */
void arrays_free(struct arrays *arrays);

/* Makes room for 'wanted' elements of 'size' bytes in an array on the heap, at least doubling its
 * capacity, up to UINT32_MAX. 'array' is the address of the pointer to it, which may be NULL;
 * '*room' is the capacity in elements. Returns false if out of memory or more than UINT32_MAX
 * elements; nothing has changed. New elements are not zeroed. */
bool array_reserve(void *array, uint32_t *room, size_t wanted, size_t size);
/* The same for an array in memory of spill.h. */
bool array_reserve_spill(void *array, uint32_t *room, size_t wanted, size_t size);
