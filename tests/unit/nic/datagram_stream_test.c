/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/datagram/datagram_stream.h"

#include "base/rng.h"
#include "unit.h"

#define MTU 1000

/* mark_ps: how long notifications apply; 0: none. */
static void init_with(struct datagram *nic, weft_time mark_ps, enum pair_numbers_kind numbers)
{
	struct datagram_config config = {.host = 2,
		.hosts = 4,
		.mtu_bytes = MTU,
		.vcs = 3,
		.queue = 4,
		.sl_to_vc = {[1] = 1},
		.mark_ps = mark_ps,
		.numbers = numbers,
		.adapted_queue = 4};
	struct link_end_config link = {.vcs = 3, .vc_blocks = 64, .open = true, .session = 1};

	assert_int_equal(0, datagram_init(nic, &config, &link));
	link_end_renew_open(&nic->link);
}

static void init_one(struct datagram *nic, weft_time mark_ps)
{
	init_with(nic, mark_ps, PAIR_NUMBERS_ALL);
}

/* Messages of any length, with few credits, are sent past the FIFO and through it. Both ways must
 * send the same frames equally early. */
static void compare(enum pair_numbers_kind numbers)
{
	struct datagram_message message = {.bytes = 0};
	OWNED(datagram) fifo, stream;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	init_one(&fifo, 0);
	init_with(&stream, 0, numbers);
	assert_true(datagram_stream_suits(&stream));
	datagram_stream_open(&stream, 1, 0);
	for (unsigned i = 0; i < 2000; i++) {
		struct weft_packet a = {.bytes = 0}, b = {.bytes = 0};
		struct datagram_origin from_a, from_b;

		if (datagram_stream_is_empty(&stream.stream)) {
			assert_int_equal(datagram_waiting(&fifo), 0);
			message = (struct datagram_message){.generated_ps = i,
				.bytes = 1 + (uint32_t)rng_below(&rng, 5 * MTU),
				.destination = (uint16_t)rng_below(&rng, 4),
				.sl = 1};
			datagram_send(&fifo, &message);
			assert_true(datagram_stream_begin(&stream, message.destination,
				message.bytes, message.generated_ps, 0));
		}
		if (!datagram_stream_can_go(&stream.stream)) {
			assert_false(datagram_inject(&fifo, i, &a, &from_a));
			link_end_renew_open(&fifo.link);
			link_end_renew_open(&stream.link);
			continue;
		}
		assert_true(datagram_inject(&fifo, i, &a, &from_a));
		datagram_stream_inject(&stream, i, &b, &from_b);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_int_equal(from_a.injected_ps, from_b.injected_ps);
		assert_int_equal(from_a.generated_ps, from_b.generated_ps);
		assert_int_equal(from_a.payload_bytes, from_b.payload_bytes);
		assert_int_equal(fifo.frames_sent, stream.frames_sent);
		assert_int_equal(fifo.messages_sent, stream.messages_sent);
		assert_int_equal(fifo.link.tx[1].sent, stream.link.tx[1].sent);
	}
}

UNIT_TEST(a_stream_sends_the_frames_that_a_fifo_sends)
{
	compare(PAIR_NUMBERS_ALL);
}

UNIT_TEST(a_stream_takes_the_same_numbers_of_each_kind)
{
	compare(PAIR_NUMBERS_BYTES);
	compare(PAIR_NUMBERS_FEW);
}

/* A notification in the middle of a message that it affects. The rest is set aside, as in a
 * FIFO. */
UNIT_TEST(a_stream_that_is_closed_goes_on_as_the_fifo_would)
{
	const struct datagram_message message = {
		.generated_ps = 7, .bytes = 3 * MTU + 1, .destination = 3, .sl = 1};
	const struct control_arn arn = {.destination = 3, .vc = 1};

	for (unsigned before = 0; before <= 4; before++) {
		struct weft_packet a = {.bytes = 0}, b = {.bytes = 0};
		struct datagram_origin from_a, from_b;
		OWNED(datagram) fifo, stream;
		unsigned sent = 0;

		init_one(&fifo, 1000);
		init_one(&stream, 1000);
		assert_true(datagram_stream_suits(&stream));
		datagram_stream_open(&stream, 1, 0);
		datagram_send(&fifo, &message);
		assert_true(datagram_stream_begin(
			&stream, message.destination, message.bytes, message.generated_ps, 0));
		for (; sent < before; sent++) {
			assert_true(datagram_inject(&fifo, sent, &a, &from_a));
			datagram_stream_inject(&stream, sent, &b, &from_b);
		}
		datagram_stream_close(&stream);
		assert_true(datagram_stream_is_empty(&stream.stream));
		datagram_on_arn(&fifo, &arn, sent);
		datagram_on_arn(&stream, &arn, sent);
		assert_int_equal(fifo.next_vc, stream.next_vc);
		for (; sent < 4; sent++) {
			assert_true(datagram_inject(&fifo, sent, &a, &from_a));
			assert_true(datagram_inject(&stream, sent, &b, &from_b));
			assert_memory_equal(&a, &b, sizeof(a));
			assert_int_equal(a.vc, 2);
			assert_int_equal(from_b.generated_ps, 7);
			assert_int_equal(from_a.payload_bytes, from_b.payload_bytes);
		}
		assert_int_equal(a.flags & FRAME_F_TAIL, FRAME_F_TAIL);
		assert_false(datagram_inject(&stream, sent, &b, &from_b));
		assert_int_equal(fifo.messages_sent, stream.messages_sent);
		assert_int_equal(fifo.diverted, stream.diverted);
		assert_int_equal(fifo.next_vc, stream.next_vc);
	}
}
