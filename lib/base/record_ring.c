/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "record_ring.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ALIGN    8u
#define LINE     64
#define SKIPPING UINT32_MAX /* in place of a length: the rest of the memory is unused */

struct record {
	uint32_t bytes;
	uint32_t reserved;
	uint8_t data[];
};

_Static_assert(sizeof(struct record) == ALIGN, "records stay aligned");

/* Positions are byte counts since creation and never decrease. The size is a power of two. */
struct record_ring {
	uint64_t size;
	uint8_t *memory;
	uint64_t end;       /* writer only: end of the last reserved space */
	uint64_t reclaimed; /* writer only */
	_Alignas(LINE) atomic_uint_fast64_t written;
	_Alignas(LINE) atomic_uint_fast64_t read;
};

static uint64_t whole(uint32_t bytes)
{
	return sizeof(struct record) + (((uint64_t)bytes + ALIGN - 1) & ~(uint64_t)(ALIGN - 1));
}

static struct record *at_place(const struct record_ring *ring, uint64_t place)
{
	return (struct record *)(void *)(ring->memory + (place & (ring->size - 1)));
}

struct record_ring *record_ring_create(uint32_t bytes, uint32_t records)
{
	struct record_ring *ring = aligned_alloc(LINE, sizeof(*ring));
	uint64_t size = LINE;

	if (ring == NULL)
		return NULL;
	/* One extra record, because a record must be contiguous. */
	while (size < whole(bytes) * ((uint64_t)records + 1))
		size *= 2;
	*ring = (struct record_ring){.size = size, .memory = aligned_alloc(LINE, size)};
	if (ring->memory != NULL)
		return ring;
	free(ring);
	return NULL;
}

void record_ring_destroy(struct record_ring *ring)
{
	if (ring != NULL)
		free(ring->memory);
	free(ring);
}

/* Returns the bytes occupied by a record at 'place', including bytes skipped at the end. */
static uint64_t takes(const struct record_ring *ring, uint64_t place, uint64_t bytes)
{
	uint64_t left = ring->size - (place & (ring->size - 1));

	return left < bytes ? left + bytes : bytes;
}

void *record_ring_room(struct record_ring *ring, uint32_t bytes, unsigned keep, uint32_t keep_bytes)
{
	uint64_t place = atomic_load_explicit(&ring->written, memory_order_relaxed);
	uint64_t taken = takes(ring, place, whole(bytes)), kept = keep * whole(keep_bytes);

	/* Keeping these records contiguous skips fewer bytes than one of them takes. */
	if (keep > 0)
		kept += whole(keep_bytes);
	if (place + taken + kept - ring->reclaimed > ring->size)
		return NULL;
	if (taken > whole(bytes)) {
		at_place(ring, place)->bytes = SKIPPING;
		place += taken - whole(bytes);
	}
	at_place(ring, place)->bytes = bytes;
	ring->end = place + whole(bytes);
	return at_place(ring, place)->data;
}

void record_ring_flush(struct record_ring *ring)
{
	atomic_store_explicit(&ring->written, ring->end, memory_order_release);
}

/* Returns the position of the first record at or after 'place', past skipped bytes, or UINT64_MAX
 * if there is none before 'end'. */
static uint64_t find(const struct record_ring *ring, uint64_t place, uint64_t end)
{
	if (place != end && at_place(ring, place)->bytes == SKIPPING)
		place += ring->size - (place & (ring->size - 1));
	return place == end ? UINT64_MAX : place;
}

void *record_ring_reclaim(struct record_ring *ring)
{
	uint64_t read = atomic_load_explicit(&ring->read, memory_order_acquire);
	uint64_t place = find(ring, ring->reclaimed, read);

	if (place == UINT64_MAX)
		return NULL;
	ring->reclaimed = place + whole(at_place(ring, place)->bytes);
	return at_place(ring, place)->data;
}

void record_ring_reclaim_all(struct record_ring *ring)
{
	ring->reclaimed = atomic_load_explicit(&ring->read, memory_order_acquire);
}

bool record_ring_is_read(const struct record_ring *ring)
{
	return atomic_load_explicit(&ring->read, memory_order_acquire) ==
	       atomic_load_explicit(&ring->written, memory_order_relaxed);
}

void *record_ring_next(struct record_ring *ring, uint32_t *bytes)
{
	uint64_t written = atomic_load_explicit(&ring->written, memory_order_acquire);
	uint64_t place =
		find(ring, atomic_load_explicit(&ring->read, memory_order_relaxed), written);

	if (place == UINT64_MAX)
		return NULL;
	*bytes = at_place(ring, place)->bytes;
	return at_place(ring, place)->data;
}

void record_ring_done(struct record_ring *ring)
{
	uint64_t place = atomic_load_explicit(&ring->read, memory_order_relaxed);

	place = find(ring, place, UINT64_MAX);
	place += whole(at_place(ring, place)->bytes);
	atomic_store_explicit(&ring->read, place, memory_order_release);
}
