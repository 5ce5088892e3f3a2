/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "shared_ring.h"

void shared_ring_tx_init(struct shared_ring_tx *tx, const struct shared_ring *ring)
{
	*tx = (struct shared_ring_tx){
		.ring = *ring,
		.written = atomic_load_explicit(&ring->marks->written, memory_order_acquire),
		.read = atomic_load_explicit(&ring->marks->read, memory_order_acquire),
	};
	/* No writer leaves this; the reader takes the ring for empty from here on. */
	if (tx->written - tx->read > ring->size)
		tx->written = tx->read;
	shared_ring_flush(tx);
}

void shared_ring_rx_init(
	struct shared_ring_rx *rx, const struct shared_ring *ring, uint32_t longest)
{
	*rx = (struct shared_ring_rx){.ring = *ring, .longest = longest};
	shared_ring_release(rx, atomic_load_explicit(&ring->marks->written, memory_order_acquire));
}

/* The position of the next record is unknown, so everything that arrived is lost. */
static __attribute__((noinline, cold)) void empty(struct shared_ring_rx *rx, uint64_t written)
{
	shared_ring_release(rx, written);
	__atomic_store_n(&rx->damaged, rx->damaged + 1, __ATOMIC_RELAXED);
}

uint16_t shared_ring_peek(
	struct shared_ring_rx *rx, struct shared_ring_record *records, uint16_t count)
{
	uint64_t written = atomic_load_explicit(&rx->ring.marks->written, memory_order_acquire);
	uint64_t waiting = written - rx->read, at = rx->read;
	uint16_t found = 0;

	if (waiting > rx->ring.size) {
		empty(rx, written);
		return 0;
	}
	for (; found < count && waiting > 0; found++) {
		const uint8_t *record = rx->ring.bytes + (at & (rx->ring.size - 1));
		uint64_t bytes;
		uint32_t length;

		memcpy(&length, record, sizeof(length));
		/* Not read again: the other process may change it after the check. */
		__asm__ volatile("" : "+r"(length));
		bytes = shared_ring_record_bytes(length);
		if (length == 0 || length > rx->longest || bytes > waiting)
			break;
		at += bytes;
		waiting -= bytes;
		records[found] = (struct shared_ring_record){
			.frame = record + SHARED_RING_HEAD, .length = length, .next = at};
		memcpy(&records[found].due, record + SHARED_RING_DUE, sizeof(weft_time));
	}
	/* Records before the damage are good. */
	if (found == 0 && waiting > 0)
		empty(rx, written);
	return found;
}
