/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Heap arrays for set-up, not per packet: sets that one owner frees together, and growing arrays.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory for arrays that may be larger than RAM. An array of 1 MiB or more is a shared mapping of
 * an unlinked file in TMPDIR (default /var/tmp), so the kernel can write out its pages. If the file
 * system is full or tmpfs, anonymous memory is used. fork() shares large arrays with the child. */

/* Like realloc(). If out of memory, returns NULL and changes nothing. */
void *spill_resize(void *memory, size_t bytes);
/* Like calloc(). */
void *spill_zeroed(size_t count, size_t size);
/* Tells the kernel to read ahead because the array will be read from start to end. */
void spill_read_in_order(void *memory);
void spill_free(void *memory);

/* The arrays of one owner. A zeroed struct is an empty set. */
struct arrays {
	struct arrays_block *last;
	bool spills; /* use spill_resize(); set before the first allocation */
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
/* Frees a heap-allocated owner, if it is not NULL, and the arrays in its member 'arrays'. */
#define ARRAYS_DESTROY(owner)                          \
	do {                                           \
		if ((owner) != NULL)                   \
			arrays_free(&(owner)->arrays); \
		free(owner);                           \
	} while (0)

/* Makes room for 'wanted' elements of 'size' bytes in a heap array. Capacity at least doubles, up
 * to UINT32_MAX elements. 'array' points to the array pointer, which may be NULL; '*room' is the
 * capacity in elements. Returns false, with nothing changed, if out of memory or if 'wanted'
 * exceeds UINT32_MAX. New elements are not zeroed. */
bool array_reserve(void *array, uint32_t *room, size_t wanted, size_t size);
/* The same for an array allocated with spill_resize(). */
bool array_reserve_spill(void *array, uint32_t *room, size_t wanted, size_t size);
