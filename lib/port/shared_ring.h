/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A ring of frames in memory that two processes share: one writes, the other reads. Neither waits
 * for the other, makes a system call or holds a lock, so each may be stopped or killed at any
 * instruction. Any byte of such memory may be wrong, because a faulty process may have written it.
 * Positions and lengths are therefore read once and checked before use, and a frame is copied
 * before it is inspected.
 *
 * A position counts the bytes since the ring was new and never wraps (64 bits); the byte at a
 * position is bytes[position mod size]. The memory is mapped twice in a row, so that a record that
 * starts before the end of the ring is contiguous. A record is a length of 4 bytes, 4 bytes of
 * padding, the due arrival in 8 bytes, the frame, and padding to SHARED_RING_ALIGN. Zeroed memory
 * is an empty ring.
 *
 * Each end stores its position in its own memory and only publishes it. A restarted reader skips
 * everything that was written before. A restarted writer continues where its predecessor published.
 * The other end, which may have kept running, therefore sees only a gap, as after a cut cable. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/weft_error.h"
#include "base/weft_time.h"

#define SHARED_RING_ALIGN 16u
#define SHARED_RING_HEAD  16u /* bytes of a record before the frame */
#define SHARED_RING_DUE   8u  /* offset of the due arrival in a record */

/* Positions of one ring, in shared memory. Two cache lines each: processors fetch pairs. */
struct shared_ring_marks {
	_Alignas(128) _Atomic uint64_t written; /* written by the sending process */
	_Alignas(128) _Atomic uint64_t read;    /* written by the receiving process */
};
_Static_assert(sizeof(struct shared_ring_marks) == 256, "layout of the file");

/* Set by the receiving process while it does not poll the ring. */
struct shared_ring_sleep {
	_Alignas(128) _Atomic uint32_t set;
};

struct shared_ring {
	struct shared_ring_marks *marks;
	struct shared_ring_sleep *sleep;
	uint8_t *bytes; /* mapped twice */
	uint64_t size;  /* a power of two, at least twice the longest record */
};

struct shared_ring_tx {
	struct shared_ring ring;
	uint64_t written; /* published by shared_ring_flush() */
	uint64_t read;    /* as last seen */
};

struct shared_ring_rx {
	struct shared_ring ring;
	uint64_t read;
	uint32_t longest; /* maximum frame length */
	uint64_t damaged; /* number of times the ring was invalid and emptied; atomic */
};

struct shared_ring_record {
	const uint8_t *frame; /* in shared memory: copy the frame before reading it */
	uint32_t length;      /* 1 to 'longest' */
	weft_time due;        /* on the clock that both processes read; 0: not timed */
	uint64_t next;        /* position after the record */
};

/* Returns the bytes that a frame of 'length' takes in a ring. */
static inline uint64_t shared_ring_record_bytes(uint32_t length)
{
	return ((uint64_t)length + SHARED_RING_HEAD + SHARED_RING_ALIGN - 1) &
	       ~(uint64_t)(SHARED_RING_ALIGN - 1);
}

/* Starts an end, which an earlier process may have used before. */
void shared_ring_tx_init(struct shared_ring_tx *tx, const struct shared_ring *ring);
/* 'longest': maximum frame length, at most size/2 - SHARED_RING_ALIGN. */
void shared_ring_rx_init(
	struct shared_ring_rx *rx, const struct shared_ring *ring, uint32_t longest);

/* Returns whether this many bytes are free; false if the reader's position is impossible. */
static inline bool shared_ring_has_room(struct shared_ring_tx *tx, uint64_t bytes)
{
	uint64_t read;

	if (tx->written + bytes - tx->read <= tx->ring.size)
		return true;
	read = atomic_load_explicit(&tx->ring.marks->read, memory_order_acquire);
	if (tx->written - read > tx->ring.size)
		return false;
	tx->read = read;
	return tx->written + bytes - read <= tx->ring.size;
}

/* Returns space for the bytes of the next frame, which is due at 'due' (0: not timed), or NULL if
 * the ring is full. The reader does not see the frame before shared_ring_flush(). */
static inline uint8_t *shared_ring_reserve(
	struct shared_ring_tx *tx, uint32_t length, weft_time due)
{
	uint64_t bytes = shared_ring_record_bytes(length);
	uint8_t *record = tx->ring.bytes + (tx->written & (tx->ring.size - 1));

	if (!shared_ring_has_room(tx, bytes))
		return NULL;
	memcpy(record, &length, sizeof(length));
	memcpy(record + SHARED_RING_DUE, &due, sizeof(due));
	tx->written += bytes;
	return record + SHARED_RING_HEAD;
}

static inline void shared_ring_flush(struct shared_ring_tx *tx)
{
	atomic_store_explicit(&tx->ring.marks->written, tx->written, memory_order_release);
}

/* Fills up to 'count' records that have arrived, and returns their number. They stay in the ring
 * until shared_ring_release(). */
uint16_t shared_ring_peek(
	struct shared_ring_rx *rx, struct shared_ring_record *records, uint16_t count);

/* Call before the reader sleeps. Returns false if records are waiting, so that it must not sleep.
 * Otherwise the writer's shared_ring_reader_sleeps() is true until shared_ring_wake(). */
bool shared_ring_sleep(struct shared_ring_rx *rx);

static inline void shared_ring_wake(struct shared_ring_rx *rx)
{
	atomic_store_explicit(&rx->ring.sleep->set, 0, memory_order_relaxed);
}

/* Call after shared_ring_flush(). Returns true if the reader will not poll before the writer calls
 * shared_file_notify(). */
static inline bool shared_ring_reader_sleeps(const struct shared_ring_tx *tx)
{
	/* The reader announces its sleep, then checks the position: one side must see the other. */
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&tx->ring.sleep->set, memory_order_relaxed) != 0;
}

/* Returns the memory of all records before position 'next' to the writer. */
static inline void shared_ring_release(struct shared_ring_rx *rx, uint64_t next)
{
	rx->read = next;
	atomic_store_explicit(&rx->ring.marks->read, next, memory_order_release);
}

/* The file of a link between two processes of this machine: a ring of frames per direction. The
 * first end creates it with mode 0600. It survives the exit of both, so that each can open it
 * again. The file never changes its size, so no process that starts, ends or is killed can take the
 * memory away from a process that uses it. Its folder is private (private_dir.h), because a process
 * that can write into it could also stop a user of the file.
 *
 * The file contains, in whole pages: the positions of both rings, and which readers sleep; the
 * bytes of the ring from end 0 to end 1; the bytes of the other ring. */

struct shared_file {
	int fd;             /* holds the lock of this end */
	int inotify, watch; /* shared_file_watch(); -1: not watched */
	struct shared_ring_marks *marks;
	struct shared_ring tx, rx; /* as this end sees them */
};

/* Opens 'end' (0 or 1) of the file, and creates the file if it is missing. Each ring has
 * 'ring_bytes', a power of two and a multiple of the page size. Returns 0, -EBUSY (another process
 * has this end), -EINVAL (the file has a different size), -ENOSPC or another -errno. */
int shared_file_open(struct shared_file *file, const char *path, unsigned end, uint64_t ring_bytes,
	struct error *error);
/* Closes the file without deleting it, and removes its inotify watch. */
void shared_file_close(struct shared_file *file);
/* Makes the descriptor 'inotify' readable on shared_file_notify() at each end, until the file is
 * closed. Repeated calls change nothing. Returns 0 or -errno. */
int shared_file_watch(struct shared_file *file, int inotify);
void shared_file_notify(const struct shared_file *file);
