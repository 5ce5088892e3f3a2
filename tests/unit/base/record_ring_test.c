/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "base/record_ring.h"

#include <pthread.h>
#include <sched.h>

#include "base/rng.h"
#include "unit.h"

#define BYTES   100
#define RECORDS 5

/* Every byte of a record contains its number. */
static bool offer(struct record_ring *ring, uint8_t number, uint32_t bytes)
{
	void *room = record_ring_room(ring, bytes, 0, 0);

	if (room == NULL)
		return false;
	memset(room, number, bytes);
	record_ring_flush(ring);
	return true;
}

static bool is_filled(const uint8_t *data, uint8_t number, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (data[i] != number)
			return false;
	return true;
}

static int setup(void **state)
{
	*state = record_ring_create(BYTES, RECORDS);
	return *state == NULL;
}

static int teardown(void **state)
{
	record_ring_destroy(*state);
	return 0;
}

#define TEST(name) UNIT_BED(name, setup, teardown, struct record_ring *ring)

TEST(the_promised_records_fit_wherever_the_ring_stands)
{
	uint32_t bytes;

	for (unsigned start = 0; start < 300; start++) {
		for (unsigned i = 0; i < RECORDS; i++)
			assert_true(offer(ring, (uint8_t)i, BYTES));
		for (unsigned i = 0; i < RECORDS; i++) {
			assert_true(is_filled(record_ring_next(ring, &bytes), (uint8_t)i, BYTES));
			record_ring_done(ring);
		}
		record_ring_reclaim_all(ring);
		assert_true(offer(ring, 0, 1 + start % 8));
		assert_non_null(record_ring_next(ring, &bytes));
		assert_int_equal(bytes, 1 + start % 8);
		record_ring_done(ring);
		record_ring_reclaim_all(ring);
	}
}

TEST(a_record_stays_until_it_is_reclaimed_and_may_be_written_by_the_reader)
{
	unsigned accepted = 0;
	uint32_t bytes;
	uint8_t *read;

	while (offer(ring, 1, BYTES))
		accepted++;
	for (unsigned i = 0; i < accepted; i++) {
		read = record_ring_next(ring, &bytes);
		read[0] = (uint8_t)(100 + i);
		record_ring_done(ring);
	}
	assert_null(record_ring_next(ring, &bytes));
	assert_false(offer(ring, 2, BYTES));
	for (unsigned i = 0; i < accepted; i++) {
		read = record_ring_reclaim(ring);
		assert_non_null(read);
		assert_int_equal(read[0], 100 + i);
	}
	assert_null(record_ring_reclaim(ring));
	assert_true(offer(ring, 2, BYTES));
}

TEST(what_is_kept_fits_when_long_records_do_not)
{
	struct rng rng;
	uint32_t bytes;

	rng_init(&rng, 1, 2, 3);
	for (unsigned round = 0; round < 1000; round++) {
		for (;;) {
			uint32_t length = 1 + rng_below(&rng, BYTES);

			if (record_ring_room(ring, length, 4, 16) == NULL)
				break;
			record_ring_flush(ring);
		}
		for (unsigned i = 0; i < 4; i++)
			assert_true(offer(ring, 1, 16));
		while (record_ring_next(ring, &bytes) != NULL)
			record_ring_done(ring);
		record_ring_reclaim_all(ring);
	}
}

struct stream {
	struct record_ring *ring;
	uint64_t sent, refused;
};

#define STREAM_RECORDS 200000

/* Length and contents follow from the number. */
static uint32_t stream_bytes(uint64_t number)
{
	return 8 + (uint32_t)(number * 2654435761u % (BYTES - 8));
}

static void *send_stream(void *ctx)
{
	struct stream *stream = ctx;

	while (stream->sent < STREAM_RECORDS) {
		uint32_t bytes = stream_bytes(stream->sent);
		uint8_t *room;

		record_ring_reclaim_all(stream->ring);
		room = record_ring_room(stream->ring, bytes, 0, 0);
		if (room == NULL) {
			stream->refused++;
			sched_yield();
			continue;
		}
		memset(room, (uint8_t)stream->sent, bytes);
		memcpy(room, &stream->sent, 8);
		record_ring_flush(stream->ring);
		stream->sent++;
	}
	return NULL;
}

TEST(between_two_threads_nothing_is_lost_changed_or_out_of_order)
{
	struct stream stream = {.ring = ring};
	pthread_t thread;
	uint32_t bytes;

	pthread_create(&thread, NULL, send_stream, &stream);
	for (uint64_t number = 0, said; number < STREAM_RECORDS;) {
		const uint8_t *read = record_ring_next(stream.ring, &bytes);

		if (read == NULL) {
			sched_yield();
			continue;
		}
		memcpy(&said, read, 8);
		assert_int_equal(said, number);
		assert_int_equal(bytes, stream_bytes(number));
		assert_true(is_filled(read + 8, (uint8_t)number, bytes - 8));
		record_ring_done(stream.ring);
		number++;
	}
	pthread_join(thread, NULL);
	assert_null(record_ring_next(stream.ring, &bytes));
}
