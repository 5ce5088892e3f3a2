/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Memory of a fabric's devices, in a few large pieces that may be backed by huge pages: the events
 * of a large fabric touch all of it at random, and with pages of 4 KiB each touch would also cost a
 * walk through the page tables. Freed as a whole. */

#include <stddef.h>

struct arena {
	void *piece;
	size_t used, size; /* the last piece */
};

/* Zeroed, aligned to a cache line. Returns NULL if memory ran out. */
void *arena_get(struct arena *arena, size_t bytes);
/* Memory that a run will soon touch everywhere, at random: all of its pages are made present
 * now, so that page faults do not interrupt the run. No effect before Linux 5.14. */
void arena_touch_pages(void *memory, size_t bytes);

void arena_free(struct arena *arena);

/* Gives the first bytes of an array from arena_get() small pages: for an array that may be long but
 * is often little used, where huge pages would waste memory. */
void arena_split_pages(void *memory, size_t bytes);

/* Turns memory that is already in use, and is not from an arena, into huge pages, as far as the
 * kernel has any; nothing else changes. */
void arena_join_pages(const void *memory, size_t bytes);
