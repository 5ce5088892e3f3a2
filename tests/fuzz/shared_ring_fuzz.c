/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A ring in shared memory whose other end writes anything: positions, and bytes anywhere in the
 * ring. The reader's records lie in the ring and are no longer than a frame; the writer's room lies
 * in it; and both ends work again once the other one has started afresh.
 *
 * Input: records of a command, an argument, a length and that many bytes. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "port/shared_ring.h"

#define RING    1024u
#define LONGEST 256u

struct bed {
	struct shared_ring_marks marks;
	struct shared_ring_sleep sleep;
	struct shared_ring ring;
	struct shared_ring_tx tx;
	struct shared_ring_rx rx;
	uint8_t *bytes; /* twice the ring, of its own size for the sanitizer */
};

static void write_bytes(struct bed *bed, uint64_t at, const uint8_t *data, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		bed->bytes[(at + i) % RING] = data[i];
		bed->bytes[(at + i) % RING + RING] = data[i];
	}
}

static uint64_t number(const uint8_t *data, unsigned bytes)
{
	uint64_t value = 0;

	memcpy(&value, data, bytes < sizeof(value) ? bytes : sizeof(value));
	return value;
}

static void receive(struct bed *bed, unsigned count)
{
	struct shared_ring_record record[32];
	uint16_t found = shared_ring_peek(&bed->rx, record, (uint16_t)(1 + count % 32));
	uint8_t frame[LONGEST];

	for (uint16_t i = 0; i < found; i++) {
		REQUIRE(record[i].length > 0 && record[i].length <= LONGEST);
		memcpy(frame, record[i].frame, record[i].length);
	}
	if (found > 0)
		shared_ring_release(&bed->rx, record[found - 1].next);
}

/* In a real ring, the two halves are the same memory. */
static bool send(struct bed *bed, const uint8_t *data, unsigned bytes)
{
	uint8_t *room = shared_ring_reserve(&bed->tx, bytes, bytes);

	if (room == NULL)
		return false;
	memcpy(room, data, bytes);
	write_bytes(bed, (uint64_t)(room - SHARED_RING_HEAD - bed->bytes), room - SHARED_RING_HEAD,
		bytes + SHARED_RING_HEAD);
	shared_ring_flush(&bed->tx);
	return true;
}

static void do_record(
	struct bed *bed, unsigned command, unsigned argument, const uint8_t *data, unsigned bytes)
{
	switch (command % 9) {
	case 0:
		receive(bed, argument);
		break;
	case 1:
		if (bytes > 0)
			send(bed, data, bytes);
		break;
	case 2:
		write_bytes(bed, 4 * argument, data, bytes);
		break;
	case 3: /* near the correct value */
		atomic_fetch_add(&bed->marks.written, (uint64_t)(int8_t)argument);
		break;
	case 4:
		atomic_store(&bed->marks.written, number(data, bytes));
		break;
	case 5:
		atomic_store(&bed->marks.read, number(data, bytes));
		break;
	case 6: /* only an empty ring lets its reader sleep */
		REQUIRE(!shared_ring_sleep(&bed->rx) ||
			atomic_load(&bed->marks.written) == bed->rx.read);
		shared_ring_wake(&bed->rx);
		break;
	case 7:
		atomic_store(&bed->sleep.set, argument);
		REQUIRE(shared_ring_reader_sleeps(&bed->tx) == (argument != 0));
		break;
	default:
		write_bytes(bed, bed->rx.read, data, bytes);
	}
}

static void work_again(struct bed *bed)
{
	static const uint8_t frame[100] = {1, 2, 3};
	struct shared_ring_record record;

	shared_ring_rx_init(&bed->rx, &bed->ring, LONGEST);
	shared_ring_tx_init(&bed->tx, &bed->ring);
	REQUIRE(send(bed, frame, sizeof(frame)));
	REQUIRE(shared_ring_peek(&bed->rx, &record, 1) == 1 && record.length == sizeof(frame) &&
		record.due == sizeof(frame));
	REQUIRE(memcmp(record.frame, frame, sizeof(frame)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bed bed;
	size_t at = 0;

	memset(&bed, 0, sizeof(bed));
	bed.bytes = calloc(2, RING);
	REQUIRE(bed.bytes != NULL);
	bed.ring = (struct shared_ring){
		.marks = &bed.marks, .sleep = &bed.sleep, .bytes = bed.bytes, .size = RING};
	shared_ring_tx_init(&bed.tx, &bed.ring);
	shared_ring_rx_init(&bed.rx, &bed.ring, LONGEST);
	while (at + 3 <= size) {
		unsigned bytes = data[at + 2];

		if (bytes > size - at - 3)
			bytes = (unsigned)(size - at - 3);
		do_record(&bed, data[at], data[at + 1], data + at + 3, bytes);
		at += 3 + bytes;
	}
	work_again(&bed);
	free(bed.bytes);
	return 0;
}
