/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares the flit model with cases that were computed by hand. T is the cycle in which a flit
 * left. It reaches the far end of a link in T + 8, and passes a free switch 24 cycles after
 * that. */

#include "flit_bed.h"

/* Cycles from leaving the source to the end of the cycle in which the tail arrives. */
static uint64_t latency(const struct flit_fate *fate)
{
	return fate->tail + 1 - fate->left;
}

UNIT_TEST(an_empty_network_takes_8_and_32_a_switch_and_the_payload)
{
	static const uint32_t bytes[] = {1, 2, 23, 24, 25, 56, 57, 79, 80, 81, 512};

	for (uint32_t switches = 1; switches <= 6; switches++)
		for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			char ports[8] = "111111";
			struct flit_bed bed;

			ports[switches - 1] = '0';
			ports[switches] = '\0';
			flit_bed_row(&bed, switches, 1);
			/* A row of one switch needs a second host. */
			if (switches == 1) {
				flit_bed_end(&bed);
				flit_bed_row(&bed, 1, 2);
				ports[0] = '1';
			}
			flit_bed_add(
				&bed, 100, 0, switches == 1 ? 1 : switches - 1, bytes[i], ports);
			flit_bed_run(&bed);
			assert_int_equal(flit_bed_fate(&bed, 0)->left, 100);
			assert_int_equal(flit_bed_fate(&bed, 0)->first, 100 + 8 + 32 * switches);
			assert_int_equal(
				latency(flit_bed_fate(&bed, 0)), 8 + 32 * switches + bytes[i]);
			flit_bed_end(&bed);
		}
}

UNIT_TEST(an_in_transit_buffer_takes_84_and_its_switch_a_second_time)
{
	static const uint32_t bytes[] = {1, 75, 76, 77, 512};

	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 4, 1);
		/* The path is h0, s0, s1, h1, s1, s2, h2, s2, s3, h3. */
		flit_bed_add(&bed, 0, 0, 3, bytes[i], "10i10i10");
		flit_bed_run(&bed);
		assert_int_equal(flit_bed_fate(&bed, 0)->itbs, 2);
		assert_int_equal(latency(flit_bed_fate(&bed, 0)), 8 + 32 * 6 + bytes[i] + 84 * 2);
		flit_bed_end(&bed);
	}
}

UNIT_TEST(a_saturated_channel_carries_a_message_of_512_in_536_cycles)
{
	/* Messages from one host, and from two hosts that alternate. */
	for (unsigned sources = 1; sources <= 2; sources++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 1, 3);
		for (unsigned i = 0; i < 20; i++)
			flit_bed_add(&bed, 0, i % sources, 2, 512, "2");
		flit_bed_run(&bed);
		for (uint32_t i = 0; i < 20; i++)
			assert_int_equal(flit_bed_fate(&bed, i)->tail,
				8 + 32 + 511 + (512 + 1 + 23) * (uint64_t)i);
		flit_bed_end(&bed);
	}
}

/* If two hosts alternate, the waiting header has already been routed when the tail leaves. After a
 * tail of its own host, it has not. */
UNIT_TEST(a_header_routed_before_its_grant_leaves_a_cycle_between_messages)
{
	for (unsigned sources = 1; sources <= 2; sources++) {
		uint64_t distance = sources == 1 ? 512 + 1 + 23 : 512 + 1;
		struct flit_bed bed;

		flit_bed_row(&bed, 1, 3);
		bed.parameters.routed_before_grant = true;
		for (unsigned i = 0; i < 20; i++)
			flit_bed_add(&bed, 0, i % sources, 2, 512, "2");
		flit_bed_run(&bed);
		for (uint32_t i = 0; i < 20; i++)
			assert_int_equal(flit_bed_fate(&bed, i)->tail, 8 + 32 + 511 + distance * i);
		flit_bed_end(&bed);
	}
}

/* h1's message holds the output until its tail leaves. Meanwhile, h0's header has arrived. */
UNIT_TEST(stop_and_go_are_sent_at_their_marks)
{
	const struct flit_mark *mark;
	struct flit_bed bed;
	uint64_t tail;

	flit_bed_row(&bed, 1, 3);
	flit_bed_add(&bed, 0, 1, 2, 512, "2");
	flit_bed_add(&bed, 10, 0, 2, 400, "2");
	flit_bed_run(&bed);
	/* The other buffer holds 24 flits and sends no STOP. h1's first flit arrives in 8 and
	 * leaves in 32, and its last one leaves in 543. */
	tail = 32 + 511;
	assert_int_equal(flit_bed_fate(&bed, 0)->tail, tail + 8);
	/* Flit n arrives in 18 + n. The 57th, number 56, is the first above the mark. */
	assert_true(flit_model_marks(bed.model, &mark) >= 2);
	assert_true(mark[0].stop);
	assert_int_equal(mark[0].cycle, 10 + 8 + 56);
	assert_int_equal(mark[0].sender.kind, DEVICE_HOST);
	assert_int_equal(mark[0].sender.device, 0);
	/* The symbol takes 8 cycles, in which 8 more flits leave. With the 7 flits that are in
	 * flight when it is sent, the buffer reaches 57 + 15. */
	assert_int_equal(flit_model_fullest(bed.model), 72);
	/* The grant is in tail + 1. The first flit leaves 24 cycles later, and the 33rd lowers the
	 * level to 39. */
	assert_false(mark[1].stop);
	assert_int_equal(mark[1].cycle, tail + 1 + 24 + 32);
	/* The buffer never becomes empty, so the rest follows at the full rate. */
	assert_int_equal(flit_bed_fate(&bed, 1)->first, tail + 25 + 8);
	assert_int_equal(flit_bed_fate(&bed, 1)->tail, tail + 25 + 8 + 399);
	flit_bed_end(&bed);
}

/* 57 flits are one above the mark, and 56 are not. GO is sent by the flit that lowers the level
 * from 40 to 39. */
UNIT_TEST(a_message_of_56_flits_stops_nobody)
{
	const struct flit_mark *mark;

	for (uint32_t bytes = 55; bytes <= 58; bytes++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 1, 3);
		flit_bed_add(&bed, 0, 1, 2, 512, "2");
		flit_bed_add(&bed, 10, 0, 2, bytes, "2");
		flit_bed_run(&bed);
		assert_int_equal(flit_model_marks(bed.model, &mark), bytes > 56 ? 2 : 0);
		assert_int_equal(flit_model_fullest(bed.model), bytes);
		if (bytes > 56)
			assert_int_equal(mark[1].cycle, 32 + 511 + 25 + bytes - 39 - 1);
		flit_bed_end(&bed);
	}
}

UNIT_TEST(a_stopped_switch_stops_the_one_before_it)
{
	const struct flit_mark *mark;
	struct flit_bed bed;

	flit_bed_row(&bed, 2, 2);
	/* h2 holds the channel to h3. h0's message for h3 fills the buffer at s1, then the buffer
	 * at s0. */
	flit_bed_add(&bed, 0, 2, 3, 512, "1");
	flit_bed_add(&bed, 0, 0, 3, 512, "21");
	flit_bed_run(&bed);
	assert_true(flit_model_marks(bed.model, &mark) >= 2);
	/* The first flit is at s1 in 40, and the 57th in 96. */
	assert_int_equal(mark[0].cycle, 96);
	assert_int_equal(mark[0].sender.kind, DEVICE_SWITCH);
	/* From 104 on, s0 stores arriving flits. Its level was 24, and is 57 in 104 + 32. */
	assert_int_equal(mark[1].cycle, 136);
	assert_int_equal(mark[1].sender.kind, DEVICE_HOST);
	assert_int_equal(flit_model_fullest(bed.model), 72);
	flit_bed_end(&bed);
}

UNIT_TEST(inputs_take_turns)
{
	struct flit_bed bed;
	uint64_t last = 0;

	flit_bed_row(&bed, 1, 5);
	/* Inputs are served in port order, regardless of how much each has sent. */
	for (uint32_t round = 0; round < 8; round++)
		for (uint32_t host = 0; host < 4; host++)
			flit_bed_add(&bed, 0, host, 4, 10 + host, "4");
	flit_bed_run(&bed);
	for (uint32_t i = 0; i < bed.messages; i++) {
		assert_true(flit_bed_fate(&bed, i)->first > last);
		last = flit_bed_fate(&bed, i)->tail;
	}
	flit_bed_end(&bed);
}

UNIT_TEST(the_input_behind_the_last_one_comes_first)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 1, 5);
	flit_bed_add(&bed, 0, 2, 4, 100, "4");
	/* The others arrive while it passes. Input 3 is next, then 0, then 1. */
	flit_bed_add(&bed, 20, 0, 4, 10, "4");
	flit_bed_add(&bed, 15, 1, 4, 10, "4");
	flit_bed_add(&bed, 25, 3, 4, 10, "4");
	flit_bed_run(&bed);
	/* The tail leaves in 131. Each following message takes 25 + 9 cycles. */
	assert_int_equal(flit_bed_fate(&bed, 3)->tail, 131 + 34 + 8);
	assert_int_equal(flit_bed_fate(&bed, 1)->tail, 131 + 68 + 8);
	assert_int_equal(flit_bed_fate(&bed, 2)->tail, 131 + 102 + 8);
	flit_bed_end(&bed);
}

UNIT_TEST(a_header_behind_a_tail_is_routed_when_the_tail_has_left)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 1, 3);
	/* To another, free output, it also takes 25 cycles from tail to header. */
	flit_bed_add(&bed, 0, 0, 1, 5, "1");
	flit_bed_add(&bed, 0, 0, 2, 5, "2");
	flit_bed_run(&bed);
	assert_int_equal(flit_bed_fate(&bed, 1)->left, 5);
	assert_int_equal(flit_bed_fate(&bed, 0)->tail, 32 + 4 + 8);
	assert_int_equal(flit_bed_fate(&bed, 1)->first, 36 + 25 + 8);
	flit_bed_end(&bed);
}

UNIT_TEST(a_blocked_header_blocks_what_is_behind_it)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 1, 4);
	flit_bed_add(&bed, 0, 1, 2, 512, "2");
	flit_bed_add(&bed, 10, 0, 2, 5, "2");
	flit_bed_add(&bed, 10, 0, 3, 5, "3"); /* no other message is for h3 */
	flit_bed_run(&bed);
	assert_int_equal(flit_bed_fate(&bed, 1)->first, 543 + 25 + 8);
	assert_int_equal(flit_bed_fate(&bed, 2)->first, 543 + 25 + 4 + 25 + 8);
	flit_bed_end(&bed);
}

UNIT_TEST(a_message_in_transit_leaves_the_network_while_its_way_on_is_blocked)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 2, 2);
	/* h1 is sending a long message of its own when h0's message arrives, and absorbs it
	 * completely. */
	flit_bed_add(&bed, 0, 1, 2, 2000, "20");
	flit_bed_add(&bed, 0, 0, 3, 512, "1i21");
	flit_bed_start(&bed);
	while (flit_model_cycle(bed.model) < 1000)
		flit_model_step(bed.model);
	flit_bed_check(&bed);
	/* The whole message: 512 flits in the pool. h1's own message has 8 flits in each of three
	 * links and 24 in each buffer. */
	assert_int_equal(flit_model_inside(bed.model), 512 + 8 + 24 + 8 + 24 + 8);
	assert_true(flit_model_run(bed.model, 10000));
	/* h1's last flit leaves in 1999. Then the other message is chosen, and leaves 32 cycles
	 * later. */
	assert_int_equal(flit_bed_fate(&bed, 0)->tail, 1999 + 8 + 24 + 8 + 24 + 8);
	assert_int_equal(flit_bed_fate(&bed, 1)->itbs, 1);
	assert_int_equal(flit_bed_fate(&bed, 1)->first, 2000 + 32 + 8 + 24 + 8 + 24 + 8);
	flit_bed_end(&bed);
}

/* Space for the whole message is reserved in the pool when its header arrives, and released when
 * its tail has left. */
UNIT_TEST(a_message_for_which_the_pool_has_no_room_is_discarded)
{
	for (uint32_t bytes = 88; bytes <= 89; bytes++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 2, 3);
		bed.parameters.pool = 600;
		flit_bed_add(&bed, 0, 1, 3, 2000, "30"); /* h1 is busy */
		flit_bed_add(&bed, 0, 0, 4, 512, "1i31");
		flit_bed_add(&bed, 0, 2, 5, bytes, "1i32");
		/* Long afterwards, when the pool is empty again. */
		flit_bed_add(&bed, 5000, 0, 4, 600, "1i31");
		flit_bed_add(&bed, 8000, 0, 4, 601, "1i31");
		flit_bed_run(&bed);
		/* h0's tail leaves s0 in 32 + 511, and h2's header follows 25 cycles later. */
		if (bytes > 88)
			assert_int_equal(flit_bed_fate(&bed, 2)->discarded, 543 + 25 + 8);
		else
			assert_true(flit_bed_fate(&bed, 2)->tail != FLIT_NEVER);
		assert_int_equal(flit_bed_fate(&bed, 2)->itbs, bytes > 88 ? 0 : 1);
		assert_true(flit_bed_fate(&bed, 1)->tail != FLIT_NEVER);
		assert_true(flit_bed_fate(&bed, 3)->tail != FLIT_NEVER);
		assert_int_equal(flit_bed_fate(&bed, 4)->discarded, 8000 + 40);
		assert_true(flit_bed_fate(&bed, 4)->tail == FLIT_NEVER);
		flit_bed_end(&bed);
	}
}

/* The first message reaches h1 in 40, is chosen in 84, and leaves from 116 to 135. */
UNIT_TEST(the_pool_has_its_bytes_back_in_the_cycle_behind_the_tail)
{
	for (uint64_t arrival = 134; arrival <= 137; arrival++) {
		struct flit_bed bed;

		flit_bed_row(&bed, 2, 2);
		bed.parameters.pool = 20;
		flit_bed_add(&bed, 0, 0, 3, 20, "1i21");
		flit_bed_add(&bed, arrival - 40, 0, 3, 20, "1i21");
		flit_bed_run(&bed);
		if (arrival <= 135)
			assert_int_equal(flit_bed_fate(&bed, 1)->discarded, arrival);
		else
			assert_int_equal(
				flit_bed_fate(&bed, 1)->tail, arrival + 76 + 8 + 32 * 2 + 19);
		assert_int_equal(flit_model_pool_peak(bed.model), 20);
		flit_bed_end(&bed);
	}
}

UNIT_TEST(programming_holds_the_link)
{
	struct flit_bed bed;

	flit_bed_row(&bed, 2, 2);
	/* It is chosen in 84 and leaves in 116. h1's own message arrives in 90 and waits for its
	 * tail. */
	flit_bed_add(&bed, 0, 0, 3, 20, "1i21");
	flit_bed_add(&bed, 90, 1, 2, 20, "20");
	flit_bed_run(&bed);
	assert_int_equal(flit_bed_fate(&bed, 1)->left, 136);
	assert_int_equal(flit_bed_fate(&bed, 0)->first, 116 + 8 + 64);
	flit_bed_end(&bed);
}

/* Checks how many messages in transit h1 sends between two of its own, while 'own' of these
 * wait. */
static void expect_share(uint32_t own, uint32_t share)
{
	struct flit_bed bed;
	uint32_t since = 0, judged = 0;

	flit_bed_row(&bed, 2, 2);
	/* Both kinds of message wait for a long message of h1. */
	flit_bed_add(&bed, 0, 1, 2, 4000, "20");
	for (uint32_t i = 0; i < 60; i++)
		flit_bed_add(&bed, 0, 0, 3, 8, "1i21");
	for (uint32_t i = 0; i < own; i++)
		flit_bed_add(&bed, 100, 1, 2, 8, "20");
	flit_bed_run(&bed);
	/* They are in order of their arrival at s1. */
	for (uint32_t done = 1; done < 1 + (share + 1) * 3; done++) {
		uint32_t next = 0;

		for (uint32_t i = 1; i < bed.messages; i++) {
			uint64_t rank = 0;

			for (uint32_t k = 0; k < bed.messages; k++)
				rank += flit_bed_fate(&bed, k)->first <
					flit_bed_fate(&bed, i)->first;
			if (rank == done)
				next = i;
		}
		if (next <= 60) {
			since++;
			continue;
		}
		assert_int_equal(since, share);
		since = 0;
		judged++;
	}
	assert_int_equal(judged, 3);
	flit_bed_end(&bed);
}

UNIT_TEST(own_messages_have_a_share_that_grows_with_their_number)
{
	expect_share(10, 4);
	expect_share(50, 4);
	expect_share(60, 2);
	expect_share(100, 2);
	expect_share(110, 1);
}

/* Four messages around a ring, each three links long, wait for each other. */
UNIT_TEST(a_cycle_of_channels_stands_still)
{
	OWNED(topology) *ring = network_ring(4);
	uint8_t route[] = {ROUTE_PORT_BIT | 0, ROUTE_PORT_BIT | 0, ROUTE_PORT_BIT | 0,
		ROUTE_PORT_BIT | 2, ROUTE_TYPE_HOST};
	struct flit_message message[4];
	struct flit_model *model;
	bool stopped;

	for (uint32_t i = 0; i < ring->links; i++)
		ring->link_at[i].delay_ps = FLIT_DELAY_THESIS_PS;
	for (uint32_t i = 0; i < 4; i++)
		message[i] = (struct flit_message){.source = i,
			.destination = (i + 3) % 4,
			.bytes = 512,
			.route = route,
			.route_length = sizeof(route)};
	model = flit_model_create(ring, &FLIT_PARAMETERS_THESIS, message, 4);
	assert_non_null(model);
	assert_false(flit_model_run(model, 5000));
	assert_true(flit_model_stuck(model));
	assert_null(flit_model_broken(model));
	/* The buffer ahead holds 72 flits, and so does the one after the source, which is
	 * stopped. */
	assert_int_equal(flit_model_inside(model), 4 * (72 + 72));
	assert_int_equal(flit_model_level(model, network_port(DEVICE_HOST, 0, 0), &stopped), 72);
	assert_true(stopped);
	flit_model_destroy(model);
}

/* The model detects a buffer that is too small for the flits in flight when STOP is sent. */
UNIT_TEST(the_model_notices_a_buffer_that_is_over)
{
	struct flit_bed bed;

	for (unsigned slots = 71; slots <= 72; slots++) {
		flit_bed_row(&bed, 1, 3);
		bed.parameters.slots = slots;
		flit_bed_add(&bed, 0, 1, 2, 512, "2");
		flit_bed_add(&bed, 0, 0, 2, 400, "2");
		flit_bed_start(&bed);
		flit_model_run(bed.model, 400);
		assert_int_equal(flit_model_broken(bed.model) == NULL, slots == 72);
		flit_bed_end(&bed);
	}
}
