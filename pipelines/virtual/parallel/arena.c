/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* Linux 6.1, glibc 2.37 */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Linux 5.14 */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LINE       ((size_t)64)
#define SMALL_PAGE ((size_t)4096)
#define HUGE_PAGE  ((size_t)2 << 20)
#define PIECE      ((size_t)32 << 20)

/* Header in front of each piece. Pieces start at a huge-page boundary, so that only accesses to
 * their contents touch their pages; the mapping is one huge page longer. */
struct piece {
	struct piece *before;
	void *mapped;
	size_t bytes;
};

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

static bool add_piece(struct arena *arena, size_t bytes)
{
	size_t size = round_up(bytes > PIECE ? bytes : PIECE, HUGE_PAGE);
	uint8_t *mapped = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct piece *piece;

	if (mapped == MAP_FAILED)
		return false;
	piece = (struct piece *)(round_up((uintptr_t)mapped + LINE, HUGE_PAGE) - LINE);
	/* Only an optimisation: errors are ignored. */
	madvise((uint8_t *)piece + LINE, size, MADV_HUGEPAGE);
	*piece = (struct piece){arena->piece, mapped, size + HUGE_PAGE};
	*arena = (struct arena){piece, LINE, size + LINE};
	return true;
}

void *arena_get(struct arena *arena, size_t bytes)
{
	void *memory;

	bytes = round_up(bytes, LINE);
	if (arena->size - arena->used < bytes && !add_piece(arena, bytes))
		return NULL;
	memory = (uint8_t *)arena->piece + arena->used;
	arena->used += bytes;
	return memory;
}

void arena_split_pages(void *memory, size_t bytes)
{
	uint8_t *first = (uint8_t *)((uintptr_t)memory & ~(SMALL_PAGE - 1));
	uint8_t *end = (uint8_t *)round_up((uintptr_t)memory + bytes, SMALL_PAGE);

	madvise(first, (size_t)(end - first), MADV_NOHUGEPAGE);
}

void arena_join_pages(const void *memory, size_t bytes)
{
	uint8_t *first = (uint8_t *)round_up((uintptr_t)memory, HUGE_PAGE);
	uint8_t *end = (uint8_t *)(((uintptr_t)memory + bytes) & ~(HUGE_PAGE - 1));

	if (first < end)
		madvise(first, (size_t)(end - first), MADV_COLLAPSE);
}

void arena_touch_pages(void *memory, size_t bytes)
{
	uint8_t *first = (uint8_t *)((uintptr_t)memory & ~(SMALL_PAGE - 1));
	uint8_t *end = (uint8_t *)round_up((uintptr_t)memory + bytes, SMALL_PAGE);

	madvise(first, (size_t)(end - first), MADV_POPULATE_WRITE);
}

void arena_free(struct arena *arena)
{
	struct piece *piece = arena->piece, *before;

	for (; piece != NULL; piece = before) {
		before = piece->before;
		munmap(piece->mapped, piece->bytes);
	}
	*arena = (struct arena){0};
}
