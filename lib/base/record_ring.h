/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A lock-free queue of variable-length records from one thread to another. A record stays in place,
 * contiguous and 8-byte aligned, until the writer reclaims it, so the reader may store a reply in
 * it. A record that does not fit is refused. */

#include <stdbool.h>
#include <stdint.h>

struct record_ring;

/* Creates a ring that, when empty, has room for 'records' records of 'bytes' bytes each. Both are
 * at least 1. Returns NULL if out of memory. */
struct record_ring *record_ring_create(uint32_t bytes, uint32_t records);
void record_ring_destroy(struct record_ring *ring);

/* ---- For the writer. */

/* Reserves space for a record of 'bytes' bytes, provided that space for 'keep' more records of at
 * most 'keep_bytes' each stays free. Returns NULL if there is no room. Repeated calls return the
 * same space until the record is published. */
void *record_ring_room(
	struct record_ring *ring, uint32_t bytes, unsigned keep, uint32_t keep_bytes);
void record_ring_flush(struct record_ring *ring);
/* Reclaims the oldest record that was read and returns it, or NULL if there is none. The record is
 * valid until the next record_ring_room(). */
void *record_ring_reclaim(struct record_ring *ring);
/* Reclaims all records that were read. */
void record_ring_reclaim_all(struct record_ring *ring);
/* Returns whether the reader has finished with all published records. */
bool record_ring_is_read(const struct record_ring *ring);

/* ---- For the reader. */

/* Returns the oldest unread record and its length, or NULL. Costs one load if the ring is empty. */
void *record_ring_next(struct record_ring *ring, uint32_t *bytes);
/* Marks the record returned by record_ring_next() as read. */
void record_ring_done(struct record_ring *ring);
