/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link/link_seal.h"

#include <arpa/inet.h>
#include <sodium.h>

#include "unit.h"
#include "wire/big_endian.h"
#include "wire/control.h"

/* Two ends that exchange whole, sealed frames, and a third end on another link. An attacker on the
 * cable has copies of all frames, and can send any frame. */

#define VCS      2
#define BLOCKS   64
#define HELLO_PS (10 * PS_PER_MS)

struct wire_frame {
	uint8_t data[256];
	unsigned bytes;
};

struct side {
	struct link_end end;
	struct link_seal seal;
};

static const struct link_key key = {{1, 2, 3}}, other_key = {{1, 2, 4}};
static weft_time now;

static void start(struct side *side, uint64_t device, uint32_t session, const struct link_key *with)
{
	const struct link_end_config config = {.device = device,
		.port = 3,
		.vcs = VCS,
		.vc_blocks = BLOCKS,
		.session = session,
		.hello_ps = HELLO_PS,
		.refresh_ps = PS_PER_MS};

	link_end_init(&side->end, &config, now);
	link_seal_init(&side->seal, with, &side->end);
}

static struct wire_frame build(enum frame_kind kind, const uint8_t *payload, unsigned bytes)
{
	struct frame_fields fields = {.kind = kind,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.payload_bytes = (uint16_t)bytes};
	struct wire_frame frame = {{0}, 0};

	memcpy(frame.data + FRAME_HEADER_BYTES, payload, bytes);
	frame.bytes = frame_build(frame.data, &fields);
	return frame;
}

static struct wire_frame sealed(struct side *from, enum frame_kind kind)
{
	uint8_t payload[CONTROL_CREDIT_BYTES_MAX] = {0};
	struct control_credit credit;
	struct control_hello hello;
	struct wire_frame frame;
	unsigned bytes = CONTROL_ARN_BYTES;

	if (kind == FRAME_HELLO) {
		link_end_fill_hello(&from->end, &hello, now);
		bytes = control_hello_encode(&hello, payload);
	} else if (kind == FRAME_CREDIT) {
		link_end_fill_credit(&from->end, &credit, now);
		bytes = control_credit_encode(&credit, payload);
	}
	frame = build(kind, payload, bytes);
	frame.bytes = link_seal_close(&from->seal, &from->end, frame.data, sizeof(frame.data));
	return frame;
}

/* Like a driver. Returns true if the frame was accepted. */
static bool deliver(struct side *to, const struct wire_frame *frame)
{
	const struct frame_header *header = frame_header_const(frame->data);
	const uint8_t *payload = frame->data + FRAME_HEADER_BYTES;
	unsigned bytes = ntohs(header->payload_bytes_be);
	struct control_credit credit;
	struct control_hello hello;
	uint8_t copy[sizeof(frame->data)];

	memcpy(copy, frame->data, sizeof(copy));
	assert_int_equal(frame_check(frame->data, frame->bytes), FRAME_FAULT_OK);
	if (!link_seal_open(&to->seal, &to->end, copy, frame->bytes))
		return false;
	if (header->kind == FRAME_HELLO && control_hello_decode(&hello, payload, bytes))
		link_end_on_hello(&to->end, &hello, now);
	else if (header->kind == FRAME_CREDIT && control_credit_decode(&credit, payload, bytes))
		link_end_on_credit(&to->end, &credit, now);
	return true;
}

static bool pass(struct side *from, struct side *to, enum frame_kind kind)
{
	struct wire_frame frame = sealed(from, kind);

	return deliver(to, &frame);
}

/* Hellos in turn, then credits. */
static void meet(struct side *a, struct side *b)
{
	for (unsigned i = 0; i < 3; i++) {
		pass(a, b, FRAME_HELLO);
		pass(b, a, FRAME_HELLO);
	}
	assert_true(pass(a, b, FRAME_CREDIT));
	assert_true(pass(b, a, FRAME_CREDIT));
}

static uint64_t refused(const struct side *side)
{
	return side->seal.count.bad_tag + side->seal.count.replayed + side->seal.count.unproven;
}

static void start_pair(struct side *a, struct side *b)
{
	start(a, 10, 100, &key);
	start(b, 20, 100, &key);
	meet(a, b);
}

UNIT_TEST(two_ends_with_one_key_meet_and_grant_their_buffers)
{
	struct side a, b;

	start_pair(&a, &b);
	assert_int_equal(a.end.state, LINK_UP);
	assert_int_equal(b.end.state, LINK_UP);
	assert_int_equal(credit_available(&a.end.tx[0]), BLOCKS);
	assert_int_equal(credit_available(&b.end.tx[1]), BLOCKS);
	assert_int_equal(refused(&a) + refused(&b), 0);
}

UNIT_TEST(ends_with_different_keys_never_meet)
{
	struct side a, b;

	start(&a, 10, 100, &key);
	start(&b, 20, 200, &other_key);
	for (unsigned i = 0; i < 5; i++) {
		assert_false(pass(&a, &b, FRAME_HELLO));
		assert_false(pass(&b, &a, FRAME_HELLO));
	}
	assert_int_equal(a.end.state, LINK_WAITING);
	assert_int_equal(a.end.peer_session, 0);
	assert_int_equal(a.seal.count.bad_tag, 5);
}

UNIT_TEST(a_frame_without_a_seal_is_refused)
{
	const struct control_credit credit = {.session = 1, .vcs = VCS, .limit = {999, 999}};
	uint8_t payload[CONTROL_CREDIT_BYTES_MAX];
	struct wire_frame frame;
	struct side a, b;

	start_pair(&a, &b);
	frame = build(FRAME_CREDIT, payload, control_credit_encode(&credit, payload));
	assert_false(deliver(&a, &frame));
	assert_int_equal(a.seal.count.bad_tag, 1);
	assert_int_equal(credit_available(&a.end.tx[0]), BLOCKS);
}

/* The frame's checks are corrected again, as a forger would do. */
UNIT_TEST(no_bit_of_a_sealed_frame_can_be_changed)
{
	struct wire_frame frame, changed;
	struct side a, b;
	unsigned tried = 0;

	start_pair(&a, &b);
	frame = sealed(&b, FRAME_ARN);
	for (unsigned bit = 8 * FRAME_HEADER_BYTES; bit < 8 * frame.bytes; bit++, tried++) {
		changed = frame;
		changed.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_false(deliver(&a, &changed));
	}
	changed = frame;
	frame_header(changed.data)->source_be ^= 1;
	frame_header(changed.data)->crc_be = htons(frame_header_crc(changed.data));
	assert_false(deliver(&a, &changed));
	assert_int_equal(a.seal.count.bad_tag, tried + 1);
	assert_true(deliver(&a, &frame));
}

/* Purpose 3 of docs/reference/wire-format.md: from 'from' to 'to'. */
static void derive_by_the_page(const struct side *from, const struct side *to, uint8_t out[16])
{
	uint8_t text[18] = {3};

	put64(text + 1, from->end.config.device);
	text[9] = from->end.config.port;
	put32(text + 10, from->end.config.session);
	put32(text + 14, to->end.config.session);
	crypto_generichash(out, 16, text, sizeof(text), key.bytes, sizeof(key.bytes));
}

UNIT_TEST(a_tag_is_what_the_page_on_the_wire_format_says)
{
	const uint8_t payload[CONTROL_CREDIT_BYTES_MAX] = {9, 8, 7, 6, 5, 4, 3, 2, 1};
	uint8_t text[256], pair[16], right[8];
	struct wire_frame frame;
	struct side a, b;

	start_pair(&a, &b);
	derive_by_the_page(&a, &b, pair);
	for (unsigned bytes = CONTROL_ARN_BYTES; bytes < CONTROL_ARN_BYTES + 9; bytes++) {
		unsigned end = 46 + bytes + 8;

		frame = build(FRAME_ARN, payload, bytes);
		link_seal_close(&a.seal, &a.end, frame.data, sizeof(frame.data));
		memcpy(text, frame.data + 14, 10);
		memcpy(text + 10, frame.data + 40, end - 40);
		crypto_shorthash(right, text, end - 30, pair);
		assert_memory_equal(frame.data + end, right, sizeof(right));
	}
}

UNIT_TEST(a_frame_is_taken_once)
{
	struct wire_frame frame;
	struct side a, b;

	start_pair(&a, &b);
	frame = sealed(&b, FRAME_ARN);
	assert_true(deliver(&a, &frame));
	for (unsigned i = 0; i < 3; i++)
		assert_false(deliver(&a, &frame));
	assert_int_equal(a.seal.count.replayed, 3);
}

UNIT_TEST(an_old_credit_frame_takes_no_credit_back)
{
	struct wire_frame old, fresh;
	struct side a, b;

	start_pair(&a, &b);
	old = sealed(&b, FRAME_CREDIT);
	credit_arrive(&b.end.rx[0], 5);
	credit_release(&b.end.rx[0], 5);
	credit_take(&a.end.tx[0], 5);
	fresh = sealed(&b, FRAME_CREDIT);
	assert_true(deliver(&a, &old));
	assert_true(deliver(&a, &fresh));
	assert_int_equal(credit_available(&a.end.tx[0]), BLOCKS);
	assert_false(deliver(&a, &old));
	assert_int_equal(credit_available(&a.end.tx[0]), BLOCKS);
}

UNIT_TEST(frames_that_overtake_each_other_are_taken)
{
	struct wire_frame first, second;
	struct side a, b;

	start_pair(&a, &b);
	first = sealed(&b, FRAME_ARN);
	second = sealed(&b, FRAME_ARN);
	assert_true(deliver(&a, &second));
	assert_true(deliver(&a, &first));
}

UNIT_TEST(a_frame_that_comes_back_to_its_sender_is_refused)
{
	struct wire_frame frame;
	struct side a, b;

	start_pair(&a, &b);
	frame = sealed(&a, FRAME_CREDIT);
	assert_false(deliver(&a, &frame));
	assert_int_equal(a.seal.count.bad_tag, 1);
	frame = sealed(&a, FRAME_HELLO);
	assert_false(deliver(&a, &frame));
	assert_int_equal(a.seal.count.unproven, 1);
}

UNIT_TEST(an_end_never_meets_itself)
{
	struct side a;

	start(&a, 10, 100, &key);
	for (unsigned i = 0; i < 5; i++)
		pass(&a, &a, FRAME_HELLO);
	assert_int_equal(a.end.state, LINK_WAITING);
	assert_int_equal(a.end.peer_session, 0);
}

UNIT_TEST(a_neighbour_that_starts_again_is_adopted)
{
	struct side a, b;

	start_pair(&a, &b);
	start(&b, 20, 200, &key);
	meet(&a, &b);
	assert_int_equal(a.end.peer_session, b.end.config.session);
	assert_int_equal(credit_available(&b.end.tx[0]), BLOCKS);
	assert_int_equal(a.seal.count.bad_tag + b.seal.count.bad_tag, 0);
}

UNIT_TEST(nothing_of_an_earlier_life_is_taken)
{
	struct wire_frame recorded[4];
	struct side a, b;

	start_pair(&a, &b);
	recorded[0] = sealed(&b, FRAME_HELLO);
	recorded[1] = sealed(&b, FRAME_CREDIT);
	recorded[2] = sealed(&b, FRAME_ARN);
	start(&b, 20, 200, &key);
	recorded[3] = sealed(&b, FRAME_HELLO); /* before it knew its neighbour */
	meet(&a, &b);
	for (unsigned i = 0; i < 4; i++)
		assert_false(deliver(&a, &recorded[i]));
	assert_int_equal(a.end.peer_session, b.end.config.session);
	assert_int_equal(credit_available(&a.end.tx[0]), BLOCKS);
	assert_int_equal(refused(&a), 4);
}

UNIT_TEST(what_was_said_to_an_earlier_life_is_not_taken)
{
	struct wire_frame hello, arn;
	struct side a, b;

	start_pair(&a, &b);
	hello = sealed(&b, FRAME_HELLO);
	arn = sealed(&b, FRAME_ARN);
	start(&a, 10, 300, &key);
	assert_true(deliver(&a, &hello)); /* it may announce itself */
	assert_false(deliver(&a, &arn));
	assert_int_equal(a.end.state, LINK_WAITING);
	assert_int_equal(a.end.peer_session, 0);
	meet(&a, &b);
	assert_false(deliver(&a, &hello));
	assert_false(deliver(&a, &arn));
	assert_int_equal(a.end.state, LINK_UP);
}

/* Devices of one process start with the same session. */
UNIT_TEST(a_frame_is_of_no_use_on_another_link)
{
	struct wire_frame hello, arn;
	struct side a, b, c;

	start_pair(&a, &b);
	start(&c, 30, 100, &key);
	hello = sealed(&b, FRAME_HELLO);
	arn = sealed(&b, FRAME_ARN);
	deliver(&c, &hello);
	assert_false(deliver(&c, &arn));
	assert_int_equal(c.end.state, LINK_WAITING);
	assert_int_equal(c.end.peer_session, 0);
}

/* Both links have adopted one session, so the generations agree. */
UNIT_TEST(a_hello_moves_no_other_link_of_the_process)
{
	struct side a, b, c, d;
	struct wire_frame hello;

	start(&a, 10, 100, &key);
	start(&c, 30, 100, &key);
	start(&b, 20, 200, &key);
	start(&d, 40, 300, &key);
	meet(&a, &b);
	meet(&c, &d);
	assert_int_equal(a.end.generation, c.end.generation);
	hello = sealed(&b, FRAME_HELLO);
	assert_false(deliver(&c, &hello));
	assert_int_equal(c.end.peer_session, d.end.config.session);
}

UNIT_TEST(data_and_the_mappers_frames_have_no_seal)
{
	assert_false(link_seal_covers(FRAME_DATA));
	assert_false(link_seal_covers(FRAME_SCOUT));
	assert_false(link_seal_covers(FRAME_MAPPER));
	assert_true(link_seal_covers(FRAME_CREDIT));
	assert_true(link_seal_covers(FRAME_HELLO));
	assert_true(link_seal_covers(FRAME_ARN));
	assert_true(link_seal_covers(FRAME_ACK));
	assert_true(link_seal_covers(FRAME_CN));
	assert_true(link_seal_covers(FRAME_CLOCK));
}

UNIT_TEST(an_opened_frame_is_as_before_it_was_sealed)
{
	const uint8_t payload[CONTROL_CREDIT_BYTES_MAX] = {1, 2, 3};
	const unsigned lengths[] = {CONTROL_ARN_BYTES, CONTROL_CREDIT_BYTES_MAX};
	struct side a, b;

	start_pair(&a, &b);
	for (unsigned i = 0; i < 2; i++) {
		struct wire_frame plain = build(FRAME_ARN, payload, lengths[i]), frame = plain;

		frame.bytes = link_seal_close(&a.seal, &a.end, frame.data, sizeof(frame.data));
		assert_int_equal(frame.bytes, 46 + lengths[i] + LINK_SEAL_BYTES);
		assert_int_equal(
			link_seal_open(&b.seal, &b.end, frame.data, frame.bytes), plain.bytes);
		assert_memory_equal(frame.data, plain.data, plain.bytes);
	}
}

UNIT_TEST(a_frame_without_room_for_a_seal_stays_as_it_is)
{
	const uint8_t payload[CONTROL_ARN_BYTES] = {1, 2, 3};
	struct wire_frame plain = build(FRAME_ARN, payload, sizeof(payload)), frame = plain;
	struct side a, b;

	start_pair(&a, &b);
	assert_int_equal(
		link_seal_close(&a.seal, &a.end, frame.data, plain.bytes + LINK_SEAL_BYTES - 1), 0);
	assert_memory_equal(frame.data, plain.data, sizeof(frame.data));
	assert_true(
		link_seal_close(&a.seal, &a.end, frame.data, plain.bytes + LINK_SEAL_BYTES) > 0);
}
