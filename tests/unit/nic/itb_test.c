/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/itb.h"

#include "base/rng.h"
#include "unit.h"

#define PORT(n) (ROUTE_PORT_BIT | (n))
#define START   PS_PER_S

/* Two hosts on the path absorb. */
static const uint8_t route[] = {
	PORT(1), ROUTE_TYPE_ITB, PORT(2), PORT(3), ROUTE_TYPE_ITB, PORT(4), ROUTE_TYPE_HOST};
static const struct itb_config plain = {.pool_bytes = 4096, .pause_ps = PS_PER_MS};

/* Its state before the first of them. */
static struct weft_packet frame(uint32_t message, uint32_t sequence, bool tail)
{
	struct weft_packet packet = {
		.bytes = 128,
		.blocks = 2,
		.cursor = 1,
		.flags = tail ? FRAME_F_TAIL : 0,
		.route = route,
		.route_length = sizeof(route),
		.source = 3,
		.destination = 4,
		.kind = FRAME_DATA,
		.message = message,
		.sequence = sequence,
	};

	return packet;
}

static struct credit_tx *credits(uint32_t blocks)
{
	static struct credit_tx tx[FRAME_VCS_MAX];

	for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
		tx[vc] = (struct credit_tx){.limit = blocks};
	return tx;
}

/* Returns the next data frame, with unlimited credits, or NULL if none is ready. */
static struct weft_packet *next(struct itb *itb, weft_time now)
{
	unsigned vc = itb_ready(itb, credits(1000), now, NULL);

	return vc == FRAME_VCS_MAX ? NULL : itb_next_data(itb, vc, now);
}

static void pass(struct itb *itb, struct weft_packet *packet, weft_time now)
{
	assert_true(itb_absorb(itb, packet, 0, now, now));
	assert_ptr_equal(next(itb, now), packet);
}

UNIT_TEST(a_frame_goes_on_past_its_mark_as_in_a_first_injection)
{
	struct weft_packet packet = frame(1, 0, true);
	OWNED(itb) *itb = itb_create(&plain);

	assert_true(itb_is_marked(&packet) && itb_is_route(&packet));
	packet.vc = packet.header_vc = 5;
	packet.vc_original = 6;
	packet.flags |= FRAME_F_ADAPTED | FRAME_F_FECN;
	assert_true(itb_absorb(itb, &packet, 2, START, START));
	assert_ptr_equal(next(itb, START), &packet);
	assert_int_equal(packet.cursor, 2);
	assert_int_equal(packet.hop, PORT(2));
	assert_int_equal(packet.vc, 2);
	assert_int_equal(packet.vc_next, 2);
	assert_int_equal(packet.mutable_word,
		frame_mutable_word(2, 2, 2, FRAME_F_TAIL | FRAME_F_FECN | FRAME_F_END_MARK));
	assert_null(next(itb, START));
}

UNIT_TEST(a_mark_that_no_port_follows_is_no_route)
{
	static const uint8_t two_marks[] = {
		PORT(1), ROUTE_TYPE_ITB, ROUTE_TYPE_ITB, ROUTE_TYPE_HOST};
	struct weft_packet packet = frame(1, 0, true);

	packet.route = two_marks;
	packet.route_length = sizeof(two_marks);
	assert_true(itb_is_marked(&packet));
	assert_false(itb_is_route(&packet));
	packet.route_length = 2;
	assert_true(itb_is_marked(&packet));
	assert_false(itb_is_route(&packet));
	packet.route_length = 1;
	assert_false(itb_is_marked(&packet));
}

UNIT_TEST(detection_and_programming_begin_with_the_header)
{
	const struct itb_config config = {.pool_bytes = 4096,
		.detection_ps = ITB_DETECTION_DEFAULT_PS,
		.programming_ps = ITB_PROGRAMMING_DEFAULT_PS,
		.pause_ps = PS_PER_MS};
	struct weft_packet packet = frame(1, 0, true), late = frame(2, 1, true);
	OWNED(itb) *itb = itb_create(&config);
	weft_time tail = START + 100 * PS_PER_NS;

	assert_true(itb_absorb(itb, &packet, 0, START, tail));
	assert_int_equal(itb_due(itb, tail), START + 475 * PS_PER_NS);
	assert_null(next(itb, START + 475 * PS_PER_NS - 1));
	assert_ptr_equal(next(itb, START + 475 * PS_PER_NS), &packet);
	/* A frame with a longer reception can leave immediately. */
	tail = START + PS_PER_US;
	assert_true(itb_absorb(itb, &late, 0, START, tail));
	assert_ptr_equal(next(itb, tail), &late);
	assert_int_equal(itb->delay_ps, 475 * PS_PER_NS + PS_PER_US);
	assert_int_equal(itb_due(itb, tail), WEFT_TIME_NEVER);
}

UNIT_TEST(frames_of_a_vc_keep_their_order_and_vcs_take_turns)
{
	static const unsigned wanted[] = {0, 3, 1, 4, 2, 5};
	OWNED(itb) *itb = itb_create(&plain);
	struct weft_packet packet[6];

	for (unsigned i = 0; i < 6; i++) {
		packet[i] = frame(i, i, true);
		assert_true(itb_absorb(itb, &packet[i], i / 3, START, START));
	}
	for (unsigned i = 0; i < 6; i++)
		assert_ptr_equal(next(itb, START), &packet[wanted[i]]);
}

UNIT_TEST(a_vc_without_credits_holds_up_no_other)
{
	struct weft_packet a = frame(1, 0, true), b = frame(2, 1, true);
	OWNED(itb) *itb = itb_create(&plain);
	struct credit_tx *tx = credits(2);
	uint32_t blocked;

	tx[0].limit = 1; /* it takes two */
	assert_true(itb_absorb(itb, &a, 0, START, START));
	assert_true(itb_absorb(itb, &b, 1, START, START));
	assert_int_equal(itb_ready(itb, tx, START, &blocked), 1);
	assert_int_equal(blocked, 1);
	assert_ptr_equal(itb_next_data(itb, 1, START), &b);
	assert_int_equal(itb_ready(itb, tx, START, &blocked), FRAME_VCS_MAX);
	assert_int_equal(blocked, 1);
	tx[0].limit = 2;
	assert_int_equal(itb_ready(itb, tx, START, &blocked), 0);
	itb_drain(itb);
}

UNIT_TEST(what_the_pool_has_no_room_for_is_refused_and_counted)
{
	const struct itb_config config = {.pool_bytes = 300, .pause_ps = PS_PER_MS};
	struct weft_packet packet[3] = {frame(1, 0, true), frame(2, 1, true), frame(3, 2, true)};
	OWNED(itb) *itb = itb_create(&config);

	assert_true(itb_absorb(itb, &packet[0], 0, START, START));
	assert_true(itb_absorb(itb, &packet[1], 0, START, START));
	assert_false(itb_absorb(itb, &packet[2], 0, START, START));
	assert_int_equal(packet[2].cursor, 1);
	assert_int_equal(itb->discarded, 1);
	assert_int_equal(itb->absorbed, 2);
	assert_ptr_equal(next(itb, START), &packet[0]);
	assert_true(itb_absorb(itb, &packet[2], 0, START, START));
	assert_null(itb_check(itb));
	itb_drain(itb);
}

UNIT_TEST(a_frame_takes_the_least_portion_of_the_pool)
{
	const struct itb_config config = {
		.pool_bytes = 1024, .frame_bytes_min = 512, .pause_ps = PS_PER_MS};
	struct weft_packet packet[3] = {frame(1, 0, true), frame(2, 1, true), frame(3, 2, true)};
	OWNED(itb) *itb = itb_create(&config);

	assert_true(itb_absorb(itb, &packet[0], 0, START, START));
	assert_true(itb_absorb(itb, &packet[1], 0, START, START));
	assert_false(itb_absorb(itb, &packet[2], 0, START, START));
	assert_int_equal(itb->pool.used, 1024);
	next(itb, START);
	assert_int_equal(itb->pool.used, 512);
	itb_drain(itb);
}

static bool has_mark(const struct weft_packet *packet)
{
	return (packet->flags & FRAME_F_END_MARK) != 0;
}

UNIT_TEST(a_message_that_goes_on_as_it_comes_has_its_end_mark)
{
	OWNED(itb) *itb = itb_create(&plain);
	weft_time now = START;

	for (unsigned i = 0; i < 10; i++, now += PS_PER_MS) {
		struct weft_packet packet = frame(7, i, i == 9);

		pass(itb, &packet, now);
		assert_int_equal(has_mark(&packet), i == 9);
		assert_false(itb_was_overtaken(&packet));
	}
	assert_int_equal(itb->messages, 1);
	assert_int_equal(itb->overtaken, 0);
}

UNIT_TEST(a_pause_in_which_all_that_came_was_sent_on_costs_the_end_mark)
{
	struct weft_packet head = frame(7, 0, false), middle = frame(7, 1, false),
			   tail = frame(7, 2, true);
	OWNED(itb) *itb = itb_create(&plain);

	pass(itb, &head, START);
	pass(itb, &middle, START + PS_PER_MS + 1);
	pass(itb, &tail, START + PS_PER_MS + 2);
	assert_false(has_mark(&middle) || itb_was_overtaken(&middle));
	assert_true(itb_was_overtaken(&tail));
	assert_int_equal(itb->overtaken, 1);
	/* It arrives again alone, and passes. */
	tail = frame(7, 2, true);
	pass(itb, &tail, START + PS_PER_S);
	assert_false(itb_was_overtaken(&tail));
}

UNIT_TEST(a_pause_in_which_something_was_left_to_send_costs_nothing)
{
	struct weft_packet head = frame(7, 0, false), tail = frame(7, 1, true);
	OWNED(itb) *itb = itb_create(&plain);

	assert_true(itb_absorb(itb, &head, 0, START, START));
	assert_true(itb_absorb(itb, &tail, 0, START + PS_PER_S, START + PS_PER_S));
	next(itb, START + PS_PER_S);
	next(itb, START + PS_PER_S);
	assert_true(has_mark(&tail));
}

UNIT_TEST(a_later_host_cannot_give_the_end_mark_back)
{
	struct weft_packet refused = frame(7, 2, true), good = frame(8, 3, true);
	OWNED(itb) *itb = itb_create(&plain);

	refused.cursor = good.cursor = 4;
	good.flags |= FRAME_F_END_MARK;
	pass(itb, &refused, START);
	pass(itb, &good, START);
	assert_true(itb_was_overtaken(&refused));
	assert_false(itb_was_overtaken(&good));
}

UNIT_TEST(a_later_host_takes_the_end_mark_away_where_the_message_is_overtaken)
{
	struct weft_packet head = frame(7, 0, false), tail = frame(7, 1, true);
	OWNED(itb) *itb = itb_create(&plain);

	head.cursor = tail.cursor = 4;
	tail.flags |= FRAME_F_END_MARK; /* the first host's */
	pass(itb, &head, START);
	pass(itb, &tail, START + PS_PER_MS + 1);
	assert_true(itb_was_overtaken(&tail));
	assert_int_equal(itb->overtaken, 1);
}

UNIT_TEST(without_an_itb_on_the_way_no_end_mark_is_wanted)
{
	static const uint8_t direct[] = {PORT(1), PORT(2), ROUTE_TYPE_HOST};
	struct weft_packet packet = frame(1, 0, true);

	assert_true(itb_was_overtaken(&packet));
	packet.route = direct;
	packet.route_length = sizeof(direct);
	assert_false(itb_was_overtaken(&packet));
	packet.route_length = 0;
	assert_false(itb_was_overtaken(&packet));
}

UNIT_TEST(control_frames_have_a_queue_of_their_own)
{
	struct weft_packet data = frame(1, 0, true), ack = frame(0, 0, false);
	OWNED(itb) *itb = itb_create(&plain);

	ack.control = 1;
	assert_true(itb_absorb(itb, &data, 0, START, START));
	assert_null(itb_next_control(itb, START));
	assert_true(itb_absorb(itb, &ack, 0, START, START));
	assert_int_equal(itb->pool.used, 256);
	assert_ptr_equal(itb_next_control(itb, START), &ack);
	assert_ptr_equal(next(itb, START), &data);
	assert_int_equal(itb->absorbed, 1);
	assert_int_equal(itb->control_sent, 1);
	assert_null(itb_check(itb));
}

UNIT_TEST(everything_held_can_be_taken_out)
{
	struct weft_packet a = frame(1, 0, true), b = frame(2, 1, true), ack = frame(0, 0, false);
	OWNED(itb) *itb = itb_create(&plain);
	unsigned count = 0;

	ack.control = 1;
	assert_true(itb_absorb(itb, &a, 0, START, START));
	assert_true(itb_absorb(itb, &b, 3, START, START));
	assert_true(itb_absorb(itb, &ack, 3, START, START));
	for (struct weft_packet *packet = itb_drain(itb); packet != NULL; packet = packet->next)
		count++;
	assert_int_equal(count, 3);
	assert_int_equal(itb->abandoned, 2);
	assert_int_equal(itb->pool.used, 0);
	assert_null(itb_check(itb));
	assert_null(next(itb, START));
}

#define PACKETS 256

/* Frames arrive and leave at random. The pool is small. */
UNIT_TEST(nothing_is_lost_or_doubled_under_random_load)
{
	const struct itb_config config = {
		.pool_bytes = 8192, .detection_ps = 275000, .pause_ps = PS_PER_MS};
	static struct weft_packet packet[PACKETS];
	uint32_t came[4] = {0}, went[4] = {0};
	bool held[PACKETS] = {false};
	OWNED(itb) *itb = itb_create(&config);
	weft_time now = START;
	struct rng rng;

	rng_init(&rng, 9, 0, 0);
	for (unsigned i = 0; i < 200000; i++, now += rng_below(&rng, 100000)) {
		unsigned at = (unsigned)rng_below(&rng, PACKETS), vc = at % 4;
		struct weft_packet *gone;

		if (!held[at] && rng_chance_ppm(&rng, 700000)) {
			packet[at] = frame(came[vc], came[vc], true);
			packet[at].bytes = (uint16_t)(60 + rng_below(&rng, 200));
			held[at] = itb_absorb(itb, &packet[at], (uint8_t)vc, now, now);
			came[vc] += held[at];
		}
		gone = rng_chance_ppm(&rng, 500000) ? next(itb, now) : NULL;
		if (gone != NULL) {
			assert_int_equal(gone->sequence, went[gone->vc]++);
			assert_true(held[gone - packet]);
			held[gone - packet] = false;
		}
		assert_true(itb->pool.used <= config.pool_bytes);
		if (i % 64 == 0)
			assert_null(itb_check(itb));
	}
	assert_true(itb->discarded > 100);
	while (next(itb, now + PS_PER_S) != NULL)
		;
	assert_int_equal(itb->absorbed, itb->reinjected);
}
