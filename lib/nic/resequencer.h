/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Windows for frames that overtook others (several paths, a loss), until the earlier ones arrive. A
 * peer has a window only while it has waiting frames. Windows are taken from a pool allocated at
 * creation, so thousands of peers cost nothing and memory is bounded. */

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arrays.h"
#include "base/weft_time.h"
#include "wire/packet.h"

#define RESEQUENCER_NONE 0xFFFF

struct held_frame {
	struct weft_packet *packet; /* NULL: empty */
	const uint8_t *frame;
	weft_time since;
};

struct resequencer {
	struct held_frame *slot; /* [windows][frames], ring by sequence number */
	uint16_t *held;          /* [windows] number of waiting frames */
	uint16_t *free_stack;
	uint16_t free_count, windows;
	uint32_t mask;  /* frames per window - 1 */
	uint32_t total; /* number of waiting frames in all windows */
	uint64_t bytes; /* total size of these frames */
	struct arrays arrays;
};

static inline void resequencer_fini(struct resequencer *resequencer)
{
	arrays_free(&resequencer->arrays);
}

/* 'frames' is a power of two. Returns 0 or -ENOMEM. */
static inline int resequencer_init(
	struct resequencer *resequencer, uint16_t windows, uint32_t frames)
{
	*resequencer = (struct resequencer){.windows = windows, .mask = frames - 1};
	ARRAYS_ADD(resequencer, slot, (size_t)windows * frames);
	ARRAYS_ADD(resequencer, held, windows);
	ARRAYS_ADD(resequencer, free_stack, windows);
	if (resequencer->arrays.failed) {
		resequencer_fini(resequencer);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < windows; i++)
		resequencer->free_stack[resequencer->free_count++] = (uint16_t)(windows - 1 - i);
	return 0;
}

/* Returns an empty window, or RESEQUENCER_NONE if all are in use. */
static inline uint16_t resequencer_open(struct resequencer *resequencer)
{
	if (resequencer->free_count == 0)
		return RESEQUENCER_NONE;
	return resequencer->free_stack[--resequencer->free_count];
}

/* The window must be empty. */
static inline void resequencer_close(struct resequencer *resequencer, uint16_t window)
{
	resequencer->free_stack[resequencer->free_count++] = window;
}

static inline struct held_frame *resequencer_at(
	const struct resequencer *resequencer, uint16_t window, uint32_t sequence)
{
	return &resequencer->slot[(uint32_t)window * (resequencer->mask + 1) +
				  (sequence & resequencer->mask)];
}

/* Stores a frame. Returns false if its number is already held. */
static inline bool resequencer_hold(struct resequencer *resequencer, uint16_t window,
	uint32_t sequence, struct weft_packet *packet, const uint8_t *frame, weft_time now)
{
	struct held_frame *at = resequencer_at(resequencer, window, sequence);

	if (at->packet != NULL)
		return false;
	*at = (struct held_frame){.packet = packet, .frame = frame, .since = now};
	resequencer->held[window]++;
	resequencer->total++;
	resequencer->bytes += packet->bytes;
	return true;
}

/* Removes and returns the frame with this number; its packet is NULL if there is none. */
static inline struct held_frame resequencer_take(
	struct resequencer *resequencer, uint16_t window, uint32_t sequence)
{
	struct held_frame *at = resequencer_at(resequencer, window, sequence);
	struct held_frame taken = *at;

	if (taken.packet != NULL) {
		at->packet = NULL;
		resequencer->held[window]--;
		resequencer->total--;
		resequencer->bytes -= taken.packet->bytes;
	}
	return taken;
}

/* Returns the number of missing frames from 'sequence' on. The window must not be empty. */
static inline uint32_t resequencer_gap(
	const struct resequencer *resequencer, uint16_t window, uint32_t sequence)
{
	uint32_t gap = 0;

	while (resequencer_at(resequencer, window, sequence + gap)->packet == NULL)
		gap++;
	return gap;
}
