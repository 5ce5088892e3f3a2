/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Records of any length from one thread to another, in order, without locks. A record stays in its
 * place, whole and aligned to 8 bytes, until the writer reclaims it: so the reader may leave an
 * answer in it. What does not fit is refused.
 */

#include <stdbool.h>
#include <stdint.h>

struct record_ring;

/* Has always room for 'records' records of 'bytes' bytes each, both at least 1, when all that was
 * written before is reclaimed. NULL without memory. */
struct record_ring *record_ring_create(uint32_t bytes, uint32_t records);
void record_ring_destroy(struct record_ring *ring);

/* ---- The writer's. */

/* Room for a record of so many bytes, and for 'keep' more ones of at most 'keep_bytes'; NULL if
 * there is not. The same room again until it is published. */
void *record_ring_room(
	struct record_ring *ring, uint32_t bytes, unsigned keep, uint32_t keep_bytes);
void record_ring_publish(struct record_ring *ring);
/* The oldest record that was read and not yet reclaimed, which it is from the next call on; NULL:
 * none. */
void *record_ring_reclaim(struct record_ring *ring);
/* Reclaims all that was read. */
void record_ring_reclaim_all(struct record_ring *ring);

/* ---- The reader's. */

/* The oldest record that was not read, and its bytes; NULL: none. One load if there is none. */
void *record_ring_next(struct record_ring *ring, uint32_t *bytes);
/* That record is read. */
void record_ring_done(struct record_ring *ring);
