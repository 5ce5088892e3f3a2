/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrays.h"

#include <stdlib.h>
#include <string.h>

#include "spill.h"

#define ROOM_MIN 16u /* elements */

struct arrays_block {
	struct arrays_block *before;
	max_align_t data[];
};

void *arrays_add(struct arrays *arrays, size_t count, size_t size)
{
	struct arrays_block *block = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) &&
		!__builtin_add_overflow(bytes, sizeof(*block), &bytes))
		block = arrays->spills ? spill_zeroed(1, bytes) : calloc(1, bytes);
	if (block == NULL) {
		arrays->failed = true;
		return NULL;
	}
	block->before = arrays->last;
	arrays->last = block;
	return block->data;
}

void arrays_free(struct arrays *arrays)
{
	while (arrays->last != NULL) {
		struct arrays_block *block = arrays->last;

		arrays->last = block->before;
		if (arrays->spills)
			spill_free(block);
		else
			free(block);
	}
	arrays->failed = false;
}

static bool reserve(void *array, uint32_t *room, size_t wanted, size_t size,
	void *(*resize)(void *memory, size_t bytes))
{
	size_t more = *room > UINT32_MAX / 2 ? UINT32_MAX : 2 * *room;
	void *old, *grown;

	if (wanted <= *room)
		return true;
	if (wanted > UINT32_MAX)
		return false;
	more = more < ROOM_MIN ? ROOM_MIN : more;
	more = more < wanted ? wanted : more;
	if (size > SIZE_MAX / more)
		return false;
	memcpy(&old, array, sizeof(old));
	grown = resize(old, more * size);
	if (grown == NULL)
		return false;
	memcpy(array, &grown, sizeof(grown));
	*room = (uint32_t)more;
	return true;
}

bool array_reserve(void *array, uint32_t *room, size_t wanted, size_t size)
{
	return reserve(array, room, wanted, size, realloc);
}

bool array_reserve_spill(void *array, uint32_t *room, size_t wanted, size_t size)
{
	return reserve(array, room, wanted, size, spill_resize);
}
