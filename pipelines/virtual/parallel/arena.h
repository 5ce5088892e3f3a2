/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Memory of a fabric's devices, in a few large pieces that can be backed by huge pages. Events of a
 * large fabric access this memory at random; with 4 KiB pages, each access would also cost a
 * page-table walk. An arena is freed as a whole. */

#include <stddef.h>

struct arena {
	void *piece;
	size_t used, size; /* the last piece's */
};

/* Returns zeroed, cache-line-aligned memory, or NULL if out of memory. */
void *arena_get(struct arena *arena, size_t bytes);
/* Prefaults memory that a run will soon access at random, so that page faults do not interrupt the
 * run. No effect before Linux 5.14. */
void arena_touch_pages(void *memory, size_t bytes);

void arena_free(struct arena *arena);

/* Disables huge pages for the start of an array from arena_get(). For arrays that may be long but
 * are often sparsely used, where huge pages would waste memory. */
void arena_split_pages(void *memory, size_t bytes);

/* Converts memory in use that is not from an arena to huge pages, as far as the kernel has any.
 * Contents and addresses do not change. */
void arena_join_pages(const void *memory, size_t bytes);
