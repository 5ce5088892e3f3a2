/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Memory of a fabric's devices. */

#include <errno.h>
#include <sys/mman.h>

#include "needs.h"
#include "virtual/parallel/arena.h"

#define PAGE  ((size_t)4096)
#define BYTES ((size_t)40 << 20) /* more than a piece of an arena */

/* Returns the number of 4 KiB pages that are in memory. */
static size_t present(const uint8_t *memory, size_t bytes)
{
	uintptr_t first = ((uintptr_t)memory + PAGE - 1) & ~(PAGE - 1);
	size_t pages = ((uintptr_t)memory + bytes - first) / PAGE, there = 0;
	unsigned char *page = malloc(pages);

	assert_non_null(page);
	assert_int_equal(mincore((void *)first, pages * PAGE, page), 0);
	for (size_t i = 0; i < pages; i++)
		there += page[i] & 1;
	free(page);
	return there;
}

UNIT_TEST(memory_is_zero_and_begins_at_a_cache_line)
{
	static const size_t bytes[] = {1, 63, 64, 65, 4097, (size_t)33 << 20};
	struct arena arena = {0};

	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		uint8_t *memory = arena_get(&arena, bytes[i]);

		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 64, 0);
		assert_int_equal(memory[0] | memory[bytes[i] / 2] | memory[bytes[i] - 1], 0);
		memory[0] = memory[bytes[i] - 1] = 1;
	}
	arena_free(&arena);
}

UNIT_TEST(pages_are_there_once_they_are_touched_and_still_zero)
{
	struct arena arena = {0};
	uint8_t *memory = arena_get(&arena, BYTES);

	assert_non_null(memory);
	if (madvise((void *)((uintptr_t)memory & ~(PAGE - 1)), PAGE,
		    23 /* MADV_POPULATE_WRITE */) != 0 &&
		errno == EINVAL)
		skip_because("needs Linux 5.14");
	assert_true(present(memory, BYTES) < BYTES / PAGE / 2);
	arena_touch_pages(memory, BYTES);
	assert_true(present(memory, BYTES) >= BYTES / PAGE - 1);
	for (size_t i = 0; i < BYTES; i += PAGE)
		assert_int_equal(memory[i], 0);
	arena_free(&arena);
}
