/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Mapper messages as frames: accepted messages are genuine. Also tests the window of counters. */

#include "mapper/mapper_frame.h"

#include <arpa/inet.h>

#include "base/replay_window.h"
#include "mapper_samples.h"
#include "unit.h"

static const uint8_t route[] = {ROUTE_PORT_BIT | 3, ROUTE_TYPE_AGENT};

static void build(const struct fabric_key *key, struct rng *rng, struct mapper_frame *frame)
{
	struct mapper_speaker speaker = {.key = key, .id = 7, .counter = 40};
	struct mapper_message message =
		sample_message(1 + rng_below(rng, MAPPER_TYPE_COUNT - 1), rng);

	mapper_frame_build(&speaker, &message, route, sizeof(route), frame);
	assert_int_equal(speaker.counter, 41);
}

static enum mapper_refusal open_frame(
	const struct fabric_key *key, const struct mapper_frame *frame)
{
	struct mapper_message message;

	return mapper_frame_open(key, frame->data, frame->bytes, &message);
}

UNIT_TEST(only_the_same_key_opens)
{
	const struct fabric_key key = {{1}}, other = {{2}};
	struct mapper_frame frame;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	build(&key, &rng, &frame);
	assert_int_equal(open_frame(&key, &frame), MAPPER_REFUSED_NONE);
	assert_int_equal(open_frame(&other, &frame), MAPPER_REFUSED_FORGED);
	assert_int_equal(open_frame(NULL, &frame), MAPPER_REFUSED_KEYED);
	build(NULL, &rng, &frame);
	assert_int_equal(open_frame(&key, &frame), MAPPER_REFUSED_UNKEYED);
	assert_int_equal(open_frame(NULL, &frame), MAPPER_REFUSED_NONE);
}

/* The forger corrects both CRCs. */
UNIT_TEST(no_bit_of_a_payload_can_be_flipped)
{
	const struct fabric_key key = {{1}};
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	for (unsigned i = 0; i < 20000; i++) {
		struct mapper_frame frame;
		struct frame_header *header = frame_header(frame.data);
		uint8_t *payload = frame.data + FRAME_HEADER_BYTES + sizeof(route);
		unsigned length;

		build(&key, &rng, &frame);
		length = ntohs(header->payload_bytes_be);
		payload[rng_below(&rng, length)] ^= (uint8_t)(1u << rng_below(&rng, 8));
		header->payload_crc_be = htonl(crc32c(payload, length));
		header->crc_be = htons(frame_header_crc(frame.data));
		assert_int_not_equal(open_frame(&key, &frame), MAPPER_REFUSED_NONE);
	}
}

UNIT_TEST(a_scout_is_no_mapper_frame)
{
	struct mapper_frame frame;
	struct frame_header *header = frame_header(frame.data);
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	build(NULL, &rng, &frame);
	header->kind = header->kind == FRAME_SCOUT ? FRAME_MAPPER : FRAME_SCOUT;
	header->crc_be = htons(frame_header_crc(frame.data));
	assert_int_equal(open_frame(NULL, &frame), MAPPER_REFUSED_MALFORMED);
	header->kind = FRAME_DATA;
	header->crc_be = htons(frame_header_crc(frame.data));
	assert_int_equal(open_frame(NULL, &frame), MAPPER_REFUSED_FRAME);
}

static bool let_through(struct replay_window *window, uint64_t counter)
{
	if (!replay_is_new(window, counter))
		return false;
	replay_record(window, counter);
	return true;
}

/* Compared with a memory of all counters. */
UNIT_TEST(every_counter_is_let_through_once)
{
	static bool seen[4096];
	struct replay_window window = {0};
	uint64_t highest = 0;
	struct rng rng;

	rng_init(&rng, 4, 0, 0);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t counter = 1 + rng_below(&rng, 1 + i / 25);
		bool expected =
			!seen[counter] && (counter > highest || highest - counter < REPLAY_WINDOW);

		assert_int_equal(let_through(&window, counter), expected);
		seen[counter] |= expected;
		if (counter > highest)
			highest = counter;
	}
}

UNIT_TEST(a_jump_forgets_nothing_that_could_come_again)
{
	struct replay_window window = {0};

	assert_true(let_through(&window, 5));
	assert_true(let_through(&window, 68));
	assert_false(let_through(&window, 5));
	assert_true(let_through(&window, 6));
	assert_true(let_through(&window, UINT64_MAX));
	assert_false(let_through(&window, 68));
	assert_true(let_through(&window, UINT64_MAX - 63));
	assert_false(let_through(&window, UINT64_MAX - 64));
}
