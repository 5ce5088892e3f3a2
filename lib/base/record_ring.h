/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A lock-free queue of records of any length from one thread to another, in order. A record stays
 * in place, contiguous and aligned to 8 bytes, until the writer reclaims it, so the reader may
 * leave an answer in it. A record that does not fit is refused. */

#include <stdbool.h>
#include <stdint.h>

struct record_ring;

/* Once everything written is reclaimed, the ring has room for 'records' records of 'bytes' bytes
 * each; both are at least 1. Returns NULL if out of memory. */
struct record_ring *record_ring_create(uint32_t bytes, uint32_t records);
void record_ring_destroy(struct record_ring *ring);

/* ---- For the writer. */

/* Reserves space for a record of 'bytes' bytes, provided that space for 'keep' more records of at
 * most 'keep_bytes' stays free; NULL: no room. Repeated calls return the same space until it is
 * published. */
void *record_ring_room(
	struct record_ring *ring, uint32_t bytes, unsigned keep, uint32_t keep_bytes);
void record_ring_flush(struct record_ring *ring);
/* The oldest record that was read but not reclaimed; the next call reclaims it. Returns NULL if
 * there is none. */
void *record_ring_reclaim(struct record_ring *ring);
/* Reclaims all records that were read. */
void record_ring_reclaim_all(struct record_ring *ring);
/* Whether the reader has finished all published records. */
bool record_ring_is_read(const struct record_ring *ring);

/* ---- For the reader. */

/* The oldest unread record and its length; NULL: none. Costs one load if the ring is empty. */
void *record_ring_next(struct record_ring *ring, uint32_t *bytes);
/* Marks that record as read. */
void record_ring_done(struct record_ring *ring);
