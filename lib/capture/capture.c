/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture.h"

#include <string.h>

/* There is one writer, so no locked instruction is needed. */
static void count(_Atomic uint64_t *counter)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
		memory_order_relaxed);
}

uint32_t capture_snap_bytes(const struct capture *capture)
{
	const struct capture_filter *filter = capture_filter_of(capture);

	return filter != NULL && filter->snap_bytes != 0
		       ? RTE_MIN(filter->snap_bytes, capture->snap_bytes)
		       : capture->snap_bytes;
}

struct capture_slot *capture_begin(struct capture *capture, enum pcapng_direction direction,
	const void *bytes, uint32_t frame_bytes, weft_time now)
{
	uint32_t captured_bytes = RTE_MIN(frame_bytes, capture_snap_bytes(capture));
	struct capture_slot *slot;

	record_ring_reclaim_all(capture->ring);
	slot = record_ring_room(capture->ring, (uint32_t)sizeof(*slot) + captured_bytes, 0, 0);
	if (slot == NULL)
		return NULL;
	slot->now = now;
	slot->direction = (uint8_t)direction;
	slot->frame_bytes = frame_bytes;
	slot->captured_bytes = captured_bytes;
	memcpy(slot->bytes, bytes, captured_bytes);
	return slot;
}

void capture_end(
	struct capture *capture, struct capture_slot *slot, const struct capture_state *state)
{
	const struct capture_filter *filter = capture_filter_of(capture);
	weft_time now;

	if (filter != NULL && filter->dropped &&
		(capture->drops == NULL || !capture->drops(state->reason)))
		return;
	count(&capture->offered);
	if (slot == NULL) {
		count(&capture->dropped);
		return;
	}
	slot->state = *state;
	now = slot->now; /* the flush passes the slot to the writer */
	record_ring_flush(capture->ring);
	/* A loop that is catching up stamps frames with past times. */
	if (now > atomic_load_explicit(&capture->newest, memory_order_relaxed))
		atomic_store_explicit(&capture->newest, now, memory_order_release);
}

void capture_frame(struct capture *capture, enum pcapng_direction direction, const void *bytes,
	uint32_t frame_bytes, weft_time now, const struct capture_state *state)
{
	capture_end(capture, capture_begin(capture, direction, bytes, frame_bytes, now), state);
}
