/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Interfaces on two machines whose clocks show different times. Host 2 is on host 0's machine. */
#include "nic_pair.h"

#define AHEAD (3 * PS_PER_S + 777) /* how far host 1's clock is ahead */
#define WAY   (4 * PS_PER_US)

static const bool same_as_0[PAIR_HOSTS] = {true, false, true, true};
static const bool same_as_1[PAIR_HOSTS] = {false, true, false, false};

static void both_wait(struct end *ends, weft_time ps)
{
	end_wait(&ends[0], ps);
	end_wait(&ends[1], ps);
}

static int set_up(void **state)
{
	struct end *ends;

	pair_set_up(state);
	ends = *state;
	assert_int_equal(nic_set_clocks(ends[0].nic, same_as_0, 10), 0);
	assert_int_equal(nic_set_clocks(ends[1].nic, same_as_1, 11), 0);
	end_wait(&ends[1], AHEAD);
	return 0;
}

#define CLOCKS_TEST(test) UNIT_BED(test, set_up, pair_tear_down, struct end *ends)

/* Host 0 sends to host 1, which acknowledges. The next frame of host 1 is in 'box'. */
static void send_a_frame(struct end *ends, struct box *box)
{
	assert_int_equal(end_send(&ends[0], 1, 0, PAIR_MTU), 0);
	assert_true(end_take(&ends[0], box));
	assert_int_equal(box->packet.kind, FRAME_DATA);
	both_wait(ends, WAY);
	assert_true(end_give(&ends[1], box));
	both_wait(ends, 100 * PS_PER_US);
	assert_true(end_take(&ends[1], box));
	assert_int_equal(box->packet.kind, FRAME_ACK);
	assert_true(end_give(&ends[0], box));
}

static struct control_clock box_clock(const struct box *box)
{
	const struct frame_header *header = frame_header_const(box->frame);
	struct control_clock clock;

	assert_int_equal(header->kind, FRAME_CLOCK);
	assert_true(control_clock_decode(&clock, box->frame + frame_payload_offset(header),
		ntohs(header->payload_bytes_be)));
	return clock;
}

/* Such a frame with different contents. */
static void box_put(struct box *box, uint16_t from, uint16_t to, const struct control_clock *clock)
{
	struct frame_fields fields = {.kind = FRAME_CLOCK,
		.source = from,
		.destination = to,
		.payload_bytes = CONTROL_CLOCK_BYTES};

	memset(box->frame, 0, FRAME_BYTES_MIN);
	control_clock_encode(clock, box->frame + FRAME_HEADER_BYTES);
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
}

/* Host 1 asks and host 0 answers. The answer is in 'box' and has not arrived yet. */
static void ask(struct end *ends, struct box *box)
{
	send_a_frame(ends, box);
	assert_true(end_take(&ends[1], box));
	assert_int_equal(box_clock(box).step, CONTROL_CLOCK_ASK);
	both_wait(ends, WAY);
	assert_true(end_give(&ends[0], box));
	assert_true(end_take(&ends[0], box));
	assert_int_equal(box_clock(box).step, CONTROL_CLOCK_ANSWER);
	both_wait(ends, WAY);
}

static bool is_known(const struct end *end, uint16_t host)
{
	int64_t offset_ns;
	uint64_t bound_ns;

	return clock_line_at(&nic_clock_of(end->nic, host)->line, (int64_t)(end->now / PS_PER_NS),
		&offset_ns, &bound_ns);
}

CLOCKS_TEST(the_receiver_of_data_finds_out_how_far_the_senders_clock_is_off)
{
	int64_t offset_ns = 0, truth_ns = -(int64_t)(AHEAD / PS_PER_NS);
	uint64_t bound_ns = 0;
	struct box box;

	ask(ends, &box);
	assert_false(is_known(&ends[1], 0));
	assert_true(end_give(&ends[1], &box));
	assert_true(clock_line_at(&nic_clock_of(ends[1].nic, 0)->line,
		(int64_t)(ends[1].now / PS_PER_NS), &offset_ns, &bound_ns));
	assert_in_range(bound_ns, WAY / PS_PER_NS, WAY / PS_PER_NS + 30);
	assert_in_range(offset_ns - truth_ns + (int64_t)bound_ns, 0, 2 * bound_ns);
	assert_int_equal(end_count(&ends[1], NIC_CLOCK_ASKS_SENT), 1);
	assert_int_equal(end_count(&ends[0], NIC_CLOCK_ANSWERS_SENT), 1);
	assert_int_equal(end_count(&ends[1], NIC_CLOCK_ANSWERS_TAKEN), 1);
	/* A host that only sends knows nothing about the clock, and does not need to. */
	assert_false(is_known(&ends[0], 1));
}

CLOCKS_TEST(the_first_questions_follow_each_other_faster_than_the_others)
{
	weft_time last = 0;
	struct box box;
	unsigned asked = 0;

	for (unsigned i = 0; i < 400; i++) {
		send_a_frame(ends, &box);
		if (end_take(&ends[1], &box)) {
			assert_int_equal(box_clock(&box).step, CONTROL_CLOCK_ASK);
			assert_true(ends[1].now - last >= (asked <= PEER_CLOCKS_FIRST
									  ? PEER_CLOCKS_FIRST_PS
									  : PEER_CLOCKS_LATER_PS));
			last = ends[1].now;
			asked++;
		}
		both_wait(ends, PS_PER_MS);
	}
	/* 441 ms: eight questions in the first 80 ms, then one per 100 ms. */
	assert_in_range(asked, PEER_CLOCKS_FIRST + 3, PEER_CLOCKS_FIRST + 4);
}

CLOCKS_TEST(hosts_with_the_same_clock_are_not_asked)
{
	struct box box;

	assert_null(nic_clock_of(ends[0].nic, 2));
	assert_non_null(nic_clock_of(ends[0].nic, 1));
	for (unsigned i = 0; i < PAIR_HOSTS; i++)
		ends[1].nic->clocks->peer[i].other = false;
	send_a_frame(ends, &box);
	assert_false(end_take(&ends[1], &box));
}

CLOCKS_TEST(an_interface_without_other_clocks_ignores_them)
{
	struct box box;

	send_a_frame(ends, &box);
	assert_true(end_take(&ends[1], &box));
	peer_clocks_destroy(ends[0].nic->clocks);
	ends[0].nic->clocks = NULL;
	assert_true(end_give(&ends[0], &box));
	assert_int_equal(end_count(&ends[0], NIC_CONTROL_IGNORED), 1);
	assert_false(end_take(&ends[0], &box));
}

CLOCKS_TEST(an_answer_to_another_question_is_refused)
{
	struct control_clock clock;
	struct box box;

	ask(ends, &box);
	clock = box_clock(&box);
	clock.number ^= 1;
	box_put(&box, 0, 1, &clock);
	assert_true(end_give(&ends[1], &box));
	assert_int_equal(end_count(&ends[1], NIC_CLOCKS_REFUSED), 1);
	assert_false(is_known(&ends[1], 0));
}

CLOCKS_TEST(an_answer_is_taken_once)
{
	struct box box, again;

	ask(ends, &box);
	again = box;
	assert_true(end_give(&ends[1], &box));
	assert_true(end_give(&ends[1], &again));
	assert_int_equal(end_count(&ends[1], NIC_CLOCK_ANSWERS_TAKEN), 1);
	assert_int_equal(end_count(&ends[1], NIC_CLOCKS_REFUSED), 1);
}

CLOCKS_TEST(too_many_questions_get_one_answer)
{
	struct control_clock clock = {
		.step = CONTROL_CLOCK_ASK, .clock = 11, .number = 5, .left_ns = 1};
	struct box box;

	ask(ends, &box);
	for (unsigned i = 0; i < 10; i++) {
		box_put(&box, 1, 0, &clock);
		assert_true(end_give(&ends[0], &box));
	}
	assert_int_equal(end_count(&ends[0], NIC_CLOCKS_REFUSED), 10);
	assert_false(end_take(&ends[0], &box));
}

CLOCKS_TEST(a_set_clock_is_counted)
{
	struct box box;

	ask(ends, &box);
	assert_true(end_give(&ends[1], &box));
	end_wait(&ends[0], PS_PER_S / 2);
	end_wait(&ends[1], 20 * PS_PER_MS);
	while (end_take(&ends[0], &box))
		;
	ask(ends, &box);
	assert_true(end_give(&ends[1], &box));
	assert_int_equal(end_count(&ends[1], NIC_CLOCK_STEPS), 1);
	assert_false(is_known(&ends[1], 0));
}

CLOCKS_TEST(another_clock_begins_anew_and_is_no_step)
{
	struct control_clock clock;
	struct box box;

	ask(ends, &box);
	assert_true(end_give(&ends[1], &box));
	both_wait(ends, 20 * PS_PER_MS);
	ask(ends, &box);
	clock = box_clock(&box);
	clock.clock++;
	clock.heard_ns += 1000000000;
	clock.left_ns += 1000000000;
	box_put(&box, 0, 1, &clock);
	assert_true(end_give(&ends[1], &box));
	assert_int_equal(end_count(&ends[1], NIC_CLOCK_STEPS), 0);
	assert_true(is_known(&ends[1], 0));
}

/* Host 0 has a new life with a different clock, and starts a flow to host 1. Its first frame is in
 * 'box'. */
static void restart(struct end *ends, struct box *box)
{
	end_stop(&ends[0]);
	end_start(&ends[0], 0, 99);
	assert_int_equal(nic_set_clocks(ends[0].nic, same_as_0, 12), 0);
	assert_int_equal(end_send(&ends[0], 1, 0, PAIR_MTU), 0);
	pair_begin(&ends[0], &ends[1]);
	assert_true(end_take(&ends[0], box));
	assert_int_equal(box->packet.kind, FRAME_DATA);
}

/* The question is due, although the last one was only a moment ago. Carries it and the answer. */
static void ask_at_once(struct end *ends)
{
	struct box box;

	end_wait(&ends[1], PS_PER_MS);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box.packet.kind, FRAME_ACK);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box_clock(&box).step, CONTROL_CLOCK_ASK);
	assert_true(end_give(&ends[0], &box));
	assert_true(end_take(&ends[0], &box));
	assert_true(end_give(&ends[1], &box));
}

CLOCKS_TEST(a_sender_that_begins_anew_is_asked_before_its_clock_is_used)
{
	struct box box;

	ask(ends, &box);
	assert_true(end_give(&ends[1], &box));
	restart(ends, &box);
	assert_true(is_known(&ends[1], 0));
	assert_true(end_give(&ends[1], &box));
	assert_false(is_known(&ends[1], 0));
	ask_at_once(ends);
	assert_true(is_known(&ends[1], 0));
}

/* The question leaves with the offer, and the answer arrives before the first frame. */
CLOCKS_TEST(a_new_sender_is_timed_from_its_first_frame)
{
	struct box box, data;

	end_stop(&ends[0]);
	end_start(&ends[0], 0, 99);
	assert_int_equal(nic_set_clocks(ends[0].nic, same_as_0, 12), 0);
	assert_int_equal(end_send(&ends[0], 1, 0, PAIR_MTU), 0);
	pair_begin(&ends[0], &ends[1]);
	assert_true(end_take(&ends[1], &box));
	assert_int_equal(box_clock(&box).step, CONTROL_CLOCK_ASK);
	assert_true(end_give(&ends[0], &box));
	assert_true(end_take(&ends[0], &box));
	assert_true(end_give(&ends[1], &box));
	assert_true(end_take(&ends[0], &data));
	assert_true(end_give(&ends[1], &data));
	assert_true(is_known(&ends[1], 0));
}

/* In the name of host 0. */
static void put_blind_ask(struct box *box, uint32_t sequence)
{
	const struct control_flow flow = {
		.step = CONTROL_FLOW_ASK, .flow = (uint16_t)(sequence + 9), .sequence = sequence};
	struct frame_fields fields = {.kind = FRAME_FLOW,
		.source = 0,
		.destination = 1,
		.payload_bytes = CONTROL_FLOW_BYTES};

	memset(box->frame, 0, FRAME_BYTES_MIN);
	control_flow_encode(&flow, box->frame + FRAME_HEADER_BYTES);
	box->packet.bytes = (uint16_t)frame_build(box->frame, &fields);
}

CLOCKS_TEST(blind_asks_stop_no_timing_and_hurry_no_questions)
{
	struct box box;

	ask(ends, &box);
	assert_true(end_give(&ends[1], &box));
	ends[1].nic->clocks->peer[0].asked = PEER_CLOCKS_FIRST;
	for (uint32_t i = 0; i < 1000; i++) {
		end_wait(&ends[1], PS_PER_MS);
		put_blind_ask(&box, 100 * i);
		assert_true(end_give(&ends[1], &box));
		while (end_take(&ends[1], &box))
			;
		assert_true(is_known(&ends[1], 0));
	}
	assert_int_equal(end_count(&ends[1], NIC_OFFERS_SENT), 1000);
	assert_in_range(end_count(&ends[1], NIC_CLOCK_ASKS_SENT), 10, 12);
}
