/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Memory of a fabric's devices, in few large pieces that may be backed by huge pages: the events of
 * a large fabric touch all of it in no order, and with pages of 4 KiB each touch would cost a walk
 * through the page tables as well. Given back as a whole. */

#include <stddef.h>

struct arena {
	void *piece;
	size_t used, size; /* of the last piece */
};

/* Zeroed, aligned to a cache line. NULL without memory. */
void *arena_get(struct arena *arena, size_t bytes);
/* Memory that a run is going to touch all over, soon and in no order: all of its pages are there
 * from now on, so that the run is not interrupted for them. Without effect before Linux 5.14. */
void arena_touch_pages(void *memory, size_t bytes);

void arena_free(struct arena *arena);

/* The first bytes of an array from arena_get() get small pages: of one that may be long, but of
 * which little is used in many cases, a huge page would be memory for nothing. */
void arena_split_pages(void *memory, size_t bytes);

/* Makes huge pages of memory that is in use already and not of an arena, as far as the kernel has
 * them; nothing else changes. */
void arena_join_pages(const void *memory, size_t bytes);
