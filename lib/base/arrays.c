/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrays.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAPPED_FROM ((size_t)1 << 20)

struct spill {
	size_t bytes; /* including this header */
	bool mapped;
	max_align_t data[];
};

static struct spill *head(void *memory)
{
	return (struct spill *)((char *)memory - offsetof(struct spill, data));
}

/* Returns zeroed memory. Reserves space in the file, because writing to a page that a full file
 * system cannot hold would raise SIGBUS. In tmpfs, that would occupy memory for the whole array. */
static struct spill *map(size_t bytes)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder != NULL ? folder : "/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *at = MAP_FAILED;
	struct statfs system;

	if (fd >= 0 && fstatfs(fd, &system) == 0 && system.f_type != TMPFS_MAGIC &&
		posix_fallocate(fd, 0, (off_t)bytes) == 0)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	/* Callers alternate between positions; reading far ahead at each would evict the others. */
	if (at != MAP_FAILED)
		madvise(at, bytes, MADV_RANDOM);
	else
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return at != MAP_FAILED ? at : NULL;
}

static struct spill *get(size_t bytes)
{
	bool mapped = bytes >= MAPPED_FROM;
	struct spill *spill = mapped ? map(bytes) : calloc(1, bytes);

	if (spill != NULL)
		*spill = (struct spill){.bytes = bytes, .mapped = mapped};
	return spill;
}

static void put(struct spill *spill)
{
	if (spill->mapped)
		munmap(spill, spill->bytes);
	else
		free(spill);
}

void *spill_resize(void *memory, size_t bytes)
{
	struct spill *old = memory != NULL ? head(memory) : NULL, *spill;

	if (__builtin_add_overflow(bytes, sizeof(*spill), &bytes))
		return NULL;
	if (old != NULL && !old->mapped && bytes < MAPPED_FROM) {
		spill = realloc(old, bytes);
		if (spill != NULL)
			spill->bytes = bytes;
		return spill != NULL ? spill->data : NULL;
	}
	spill = get(bytes);
	if (spill == NULL)
		return NULL;
	if (old != NULL) {
		size_t kept = old->bytes < bytes ? old->bytes : bytes;

		memcpy(spill->data, old->data, kept - sizeof(*spill));
		put(old);
	}
	return spill->data;
}

void *spill_zeroed(size_t count, size_t size)
{
	struct spill *spill = NULL;
	size_t bytes;

	if (!__builtin_mul_overflow(count, size, &bytes) &&
		!__builtin_add_overflow(bytes, sizeof(*spill), &bytes))
		spill = get(bytes);
	return spill != NULL ? spill->data : NULL;
}

void spill_read_in_order(void *memory)
{
	if (head(memory)->mapped)
		madvise(head(memory), head(memory)->bytes, MADV_SEQUENTIAL);
}

void spill_free(void *memory)
{
	if (memory != NULL)
		put(head(memory));
}

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
