/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link/link_seal.h"

#include "unit.h"

#define SESSION 77
#define PAYLOAD 40
#define ROUTE   2

static const struct link_key link_key = {{1, 2, 3}}, other_link_key = {{1, 2, 4}};

struct tagged {
	uint8_t data[128];
	unsigned bytes, end; /* 'end': where the payload ends */
};

static struct data_tag_key key_of(const struct link_key *from)
{
	struct data_tag_key key;

	data_tag_derive(&key, from);
	return key;
}

static struct tagged make(uint32_t session)
{
	static const uint8_t route[ROUTE] = {ROUTE_PORT_BIT | 3, ROUTE_TYPE_HOST};
	const struct frame_fields fields = {.kind = FRAME_DATA,
		.source = 4,
		.destination = 5,
		.sl = 1,
		.flags = FRAME_F_TAIL,
		.message = 0x10002,
		.sequence = 9,
		.injected_ns = 1234,
		.route = route,
		.route_length = ROUTE,
		.payload_bytes = PAYLOAD};
	const struct data_tag_key key = key_of(&link_key);
	struct tagged frame = {.end = FRAME_HEADER_BYTES + ROUTE + PAYLOAD};

	memset(frame.data + FRAME_HEADER_BYTES + ROUTE, 0x5A, PAYLOAD);
	frame_build(frame.data, &fields);
	data_tag_write(&key, session, frame.data);
	frame.bytes = frame.end + DATA_TAG_BYTES;
	return frame;
}

static bool matches(const struct tagged *frame, uint32_t session)
{
	const struct data_tag_key key = key_of(&link_key);

	return data_tag_matches(&key, session, frame->data, frame->bytes);
}

UNIT_TEST(a_tag_matches_its_frame_padded_or_not)
{
	struct tagged frame = make(SESSION);

	assert_true(matches(&frame, SESSION));
	frame.bytes += 4;
	assert_true(matches(&frame, SESSION));
}

UNIT_TEST(a_frame_for_another_life_of_the_receiver_does_not_match)
{
	struct tagged frame = make(SESSION + 1);

	assert_false(matches(&frame, SESSION));
}

UNIT_TEST(another_key_makes_other_tags)
{
	const struct data_tag_key other = key_of(&other_link_key);
	struct tagged frame = make(SESSION);

	assert_false(data_tag_matches(&other, SESSION, frame.data, frame.bytes));
}

UNIT_TEST(a_frame_without_a_whole_tag_does_not_match)
{
	struct tagged frame = make(SESSION);

	frame.bytes--;
	assert_false(matches(&frame, SESSION));
}

/* Bytes 14 to 39, the payload and the tag. The lengths are unchanged, because frame_check() would
 * detect a change. */
UNIT_TEST(no_bit_that_the_sender_has_decided_can_be_changed)
{
	struct tagged frame = make(SESSION);

	for (unsigned at = FRAME_HEADER_OFFSET; at < frame.end + DATA_TAG_BYTES; at++) {
		if ((at >= 20 && at <= 22) || (at >= 40 && at < FRAME_HEADER_BYTES + ROUTE))
			continue;
		for (unsigned bit = 0; bit < 8; bit++) {
			frame.data[at] ^= (uint8_t)(1u << bit);
			assert_false(matches(&frame, SESSION));
			frame.data[at] ^= (uint8_t)(1u << bit);
		}
	}
	assert_true(matches(&frame, SESSION));
}

UNIT_TEST(the_last_frame_of_a_message_cannot_be_made_another)
{
	struct tagged frame = make(SESSION);

	frame_header(frame.data)->flags ^= FRAME_F_TAIL;
	assert_false(matches(&frame, SESSION));
}

UNIT_TEST(switches_may_change_what_is_theirs)
{
	struct tagged frame = make(SESSION);

	frame_update_mutable(frame.data,
		frame_mutable_word(3, 2, 1, FRAME_F_TAIL | FRAME_F_FECN | FRAME_F_ADAPTED));
	assert_true(matches(&frame, SESSION));
}

/* The hash of the payload does not depend on the frame that carries it. */
UNIT_TEST(a_payload_of_another_frame_does_not_match)
{
	struct tagged frame = make(SESSION), other = make(SESSION);

	frame_header(other.data)->sequence_be ^= 1;
	memcpy(other.data + other.end, frame.data + frame.end, DATA_TAG_BYTES);
	assert_false(matches(&other, SESSION));
}
