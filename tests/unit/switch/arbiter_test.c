/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Arbitration: which packet is next, and which packets do not block others. */

#include "switch/arbiter.h"

#include "switch_bench.h"

#define PORTS 6
#define VCS   3
#define OUT   5 /* the output that the inputs compete for */

static struct bench *start(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.voq = voq;
	return bench_create(&config);
}

/* The test controls input and VC of each packet. Numbers are the order of arrival. */
static void fill(struct bench *bench, unsigned inputs, unsigned vcs, unsigned each)
{
	for (unsigned i = 0; i < each; i++)
		for (unsigned input = 0; input < inputs; input++)
			for (unsigned vc = 0; vc < vcs; vc++)
				bench_send(bench, input, vc, OUT);
}

static void expect_input(struct bench *bench, unsigned input)
{
	int left = bench_leave(bench, OUT);

	assert_true(left >= 0);
	assert_int_equal(bench->packet[left].in_port, input);
}

static void expect_vc(struct bench *bench, unsigned vc)
{
	int left = bench_leave(bench, OUT);

	assert_true(left >= 0);
	assert_int_equal(bench->packet[left].vc, vc);
}

UNIT_TEST(inputs_take_turns_packet_by_packet)
{
	OWNED(bench) *bench = start(true);

	bench_grant_all(bench);
	fill(bench, 4, 1, 10);
	for (unsigned i = 0; i < 40; i++)
		expect_input(bench, i % 4);
}

/* Turns are by packet, as in the papers, not by byte. */
UNIT_TEST(a_long_packet_costs_one_turn_as_a_short_one)
{
	const struct bench_packet long_one = {.destination = OUT, .blocks = 10};
	OWNED(bench) *bench = start(true);

	bench_grant_all(bench);
	for (unsigned i = 0; i < 5; i++) {
		bench_arrive(bench, 0, &long_one);
		bench_send(bench, 1, 0, OUT);
	}
	for (unsigned i = 0; i < 10; i++)
		expect_input(bench, i % 2);
}

UNIT_TEST(the_vcs_of_an_input_take_turns_and_the_last_one_is_like_the_others)
{
	OWNED(bench) *bench = start(true);

	bench_grant_all(bench);
	fill(bench, 1, VCS, 10);
	for (unsigned i = 0; i < 10 * VCS; i++)
		expect_vc(bench, i % VCS);
}

UNIT_TEST(an_input_gains_no_turns_by_using_more_vcs)
{
	OWNED(bench) *bench = start(true);

	bench_grant_all(bench);
	for (unsigned i = 0; i < 10; i++) {
		bench_send(bench, 0, 0, OUT);
		for (unsigned vc = 0; vc < VCS; vc++)
			bench_send(bench, 1, vc, OUT);
	}
	for (unsigned i = 0; i < 20; i++)
		expect_input(bench, i % 2);
}

UNIT_TEST(the_turns_of_different_outputs_are_independent)
{
	OWNED(bench) *bench = start(true);

	bench_grant_all(bench);
	for (unsigned input = 0; input < 3; input++)
		for (unsigned output = 3; output < 5; output++)
			bench_send(bench, input, 0, output);
	for (unsigned input = 0; input < 3; input++)
		for (unsigned output = 3; output < 5; output++) {
			int left = bench_leave(bench, output);

			assert_int_equal(bench->packet[left].in_port, input);
		}
}

/* A burst is only an optimisation. */
UNIT_TEST(a_burst_has_the_order_of_single_packets)
{
	struct bench *single = start(true), *burst = start(true);
	struct weft_packet *packets[40];
	unsigned count;

	bench_grant_all(single);
	bench_grant_all(burst);
	fill(single, 4, VCS, 3);
	fill(burst, 4, VCS, 3);
	for (unsigned left = 4 * VCS * 3; left > 0; left -= count) {
		count = switch_transmit(burst->sw, OUT, packets, 7, burst->now);
		assert_true(count > 0);
		for (unsigned i = 0; i < count; i++)
			assert_int_equal(bench_leave(single, OUT), packets[i]->sequence);
	}
	bench_destroy(single);
	bench_destroy(burst);
}

UNIT_TEST(a_head_without_credits_does_not_block_the_other_vcs_of_its_input)
{
	OWNED(bench) *bench = start(true);

	bench_grant(bench, OUT, 1, BENCH_UNLIMITED);
	bench_grant(bench, OUT, 2, BENCH_UNLIMITED);
	fill(bench, 1, VCS, 2);
	expect_vc(bench, 1);
	expect_vc(bench, 2);
	expect_vc(bench, 1);
	expect_vc(bench, 2);
	assert_int_equal(bench_leave(bench, OUT), -1);
}

UNIT_TEST(a_head_without_credits_does_not_block_the_other_inputs)
{
	const struct bench_packet long_one = {.destination = OUT, .blocks = 20};
	OWNED(bench) *bench = start(true);

	bench_grant(bench, OUT, 0, 10);
	bench_arrive(bench, 0, &long_one);
	bench_send(bench, 1, 0, OUT);
	bench_send(bench, 2, 0, OUT);
	expect_input(bench, 1);
	expect_input(bench, 2);
	assert_int_equal(bench_leave(bench, OUT), -1);
}

UNIT_TEST(a_packet_waits_until_there_are_credits_for_all_of_it)
{
	const struct bench_packet long_one = {.destination = OUT, .blocks = 20};
	OWNED(bench) *bench = start(true);

	bench_arrive(bench, 0, &long_one);
	assert_int_equal(bench_leave(bench, OUT), -1);
	bench_grant(bench, OUT, 0, 19);
	assert_int_equal(bench_leave(bench, OUT), -1);
	bench_grant(bench, OUT, 0, 1);
	expect_input(bench, 0);
	assert_int_equal(credit_available(&bench->sw->port[OUT].link.tx[0]), 0);
}

/* A packet that is stored in VC 0 here, as its sender set, continues in the VC of its SL. */
UNIT_TEST(credits_are_those_of_the_vc_where_it_will_be_stored_next)
{
	const struct bench_packet what = {.destination = OUT, .vc = 0, .sl = 2};
	OWNED(bench) *bench = start(true);

	bench_grant(bench, OUT, 0, 10);
	bench_arrive(bench, 0, &what);
	assert_int_equal(bench_leave(bench, OUT), -1);
	bench_grant(bench, OUT, 2, 10);
	expect_input(bench, 0);
	assert_int_equal(credit_available(&bench->sw->port[OUT].link.tx[2]), 9);
	assert_int_equal(credit_available(&bench->sw->port[OUT].link.tx[0]), 10);
}

UNIT_TEST(a_stalled_head_is_not_looked_at_again_before_credits_come)
{
	OWNED(bench) *bench = start(true);

	bench_send(bench, 0, 0, OUT);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(bench_leave(bench, OUT), -1);
	assert_int_equal(bench_count(bench, OUT, SWITCH_STALL_CREDIT), 1);
	assert_int_equal(bench->sw->busy & BIT64(OUT), 0);
	bench_grant(bench, OUT, 0, 1);
	assert_int_not_equal(bench->sw->busy & BIT64(OUT), 0);
	expect_input(bench, 0);
}

UNIT_TEST(heads_that_were_stalled_take_turns_when_credits_trickle_in)
{
	OWNED(bench) *bench = start(true);

	fill(bench, 4, 1, 5);
	assert_int_equal(bench_leave(bench, OUT), -1);
	for (unsigned i = 0; i < 20; i++) {
		bench_grant(bench, OUT, 0, 1);
		expect_input(bench, i % 4);
		assert_int_equal(bench_leave(bench, OUT), -1);
	}
}

UNIT_TEST(with_voqs_a_blocked_output_does_not_block_another)
{
	OWNED(bench) *bench = start(true);
	unsigned behind;

	bench_grant(bench, 4, 0, 10);
	bench_send(bench, 0, 0, OUT); /* no credits there */
	behind = bench_send(bench, 0, 0, 4);
	assert_int_equal(bench_leave(bench, OUT), -1);
	assert_int_equal(bench_leave(bench, 4), behind);
}

UNIT_TEST(with_voqs_an_input_feeds_several_outputs_at_once)
{
	OWNED(bench) *bench = start(true);
	unsigned first, second;

	bench_grant_all(bench);
	first = bench_send(bench, 0, 0, 4);
	second = bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), second);
	assert_int_equal(bench_leave(bench, 4), first);
}

UNIT_TEST(without_voqs_a_blocked_head_blocks_all_behind_it_in_its_vc)
{
	OWNED(bench) *bench = start(false);
	unsigned head, behind;

	bench_grant(bench, 4, 0, 10);
	head = bench_send(bench, 0, 0, OUT);
	behind = bench_send(bench, 0, 0, 4);
	assert_int_equal(bench_leave(bench, OUT), -1);
	assert_int_equal(bench_leave(bench, 4), -1);
	bench_grant(bench, OUT, 0, 1);
	assert_int_equal(bench_leave(bench, OUT), head);
	assert_int_equal(bench_leave(bench, 4), behind);
}

UNIT_TEST(without_voqs_an_input_feeds_one_output_after_the_other)
{
	OWNED(bench) *bench = start(false);
	unsigned first, second;

	bench_grant_all(bench);
	first = bench_send(bench, 0, 0, 4);
	second = bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	assert_int_equal(bench_leave(bench, 4), first);
	assert_int_equal(bench_leave(bench, OUT), second);
}

UNIT_TEST(without_voqs_a_blocked_vc_does_not_block_the_other_vcs)
{
	OWNED(bench) *bench = start(false);
	unsigned other;

	bench_grant_all(bench);
	bench->sw->port[OUT].link.tx[0].limit = bench->sw->port[OUT].link.tx[0].sent;
	bench_send(bench, 0, 0, OUT);
	other = bench_send(bench, 0, 1, OUT);
	assert_int_equal(bench_leave(bench, OUT), other);
	assert_int_equal(bench_leave(bench, OUT), -1);
}

UNIT_TEST(without_voqs_inputs_and_vcs_take_turns_too)
{
	OWNED(bench) *bench = start(false);

	bench_grant_all(bench);
	fill(bench, 3, 2, 4);
	for (unsigned i = 0; i < 24; i++) {
		int left = bench_leave(bench, OUT);

		assert_int_equal(bench->packet[left].in_port, i % 3);
		assert_int_equal(bench->packet[left].vc, i / 3 % 2);
	}
}

UNIT_TEST(control_frames_go_before_data_and_need_no_credits)
{
	const struct bench_packet control = {.destination = OUT, .control = true};
	OWNED(bench) *bench = start(true);
	unsigned data = bench_send(bench, 0, 0, OUT);
	unsigned first = bench_arrive(bench, 1, &control);
	unsigned second = bench_arrive(bench, 2, &control);

	assert_int_equal(bench_leave(bench, OUT), first); /* nothing was granted yet */
	bench_grant(bench, OUT, 0, 1);
	assert_int_equal(bench_leave(bench, OUT), second);
	assert_int_equal(credit_available(&bench->sw->port[OUT].link.tx[0]), 1);
	assert_int_equal(bench_leave(bench, OUT), data);
}

UNIT_TEST(control_frames_of_a_burst_come_first_and_data_fills_it_up)
{
	const struct bench_packet control = {.destination = OUT, .control = true};
	OWNED(bench) *bench = start(true);
	struct weft_packet *packets[4];

	bench_grant_all(bench);
	fill(bench, 1, 1, 3);
	bench_arrive(bench, 1, &control);
	assert_int_equal(switch_transmit(bench->sw, OUT, packets, 4, bench->now), 4);
	assert_int_equal(packets[0]->control, 1);
	for (unsigned i = 1; i < 4; i++)
		assert_int_equal(packets[i]->control, 0);
	assert_int_equal(bench_count(bench, OUT, SWITCH_CONTROL_OUT), 1);
	assert_int_equal(bench_count(bench, OUT, SWITCH_DATA_OUT), 3);
}

UNIT_TEST(all_of_64_inputs_take_their_turns)
{
	struct switch_config config = bench_config(SWITCH_PORTS_MAX, FRAME_VCS_MAX);
	OWNED(bench) *bench = bench_create(&config);

	bench_grant_all(bench);
	for (unsigned i = 0; i < 3 * SWITCH_PORTS_MAX; i++)
		bench_send(bench, i % SWITCH_PORTS_MAX, 0, 63);
	for (unsigned i = 0; i < 3 * SWITCH_PORTS_MAX; i++)
		assert_int_equal(bench_leave(bench, 63), i);
	assert_int_equal(bench_leave(bench, 63), -1);
}

UNIT_TEST(all_of_16_vcs_take_their_turns)
{
	struct switch_config config = bench_config(SWITCH_PORTS_MAX, FRAME_VCS_MAX);
	OWNED(bench) *bench = bench_create(&config);

	bench_grant_all(bench);
	for (unsigned i = 0; i < 3 * FRAME_VCS_MAX; i++)
		bench_send(bench, 63, i % FRAME_VCS_MAX, 63);
	for (unsigned i = 0; i < 3 * FRAME_VCS_MAX; i++)
		assert_int_equal(bench_leave(bench, 63), i);
}

/* Random arrivals, grants and departures. Packets of one (input, VC, output) keep their order, and
 * the sets are correct at each step. */
static void run_random(bool voq, uint64_t seed)
{
	unsigned last[PORTS][VCS][PORTS] = {0}, left_all = 0;
	OWNED(bench) *bench = start(voq);
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	while (bench->packets < BENCH_PACKETS) {
		unsigned port = (unsigned)rng_below(&rng, PORTS);
		unsigned vc = (unsigned)rng_below(&rng, VCS);
		const struct bench_packet what = {
			.destination = (uint16_t)rng_below(&rng, PORTS),
			.vc = (uint8_t)vc,
			.sl = (uint8_t)vc,
			.blocks = (uint16_t)(1 + rng_below(&rng, 4)),
			.control = rng_below(&rng, 20) == 0,
		};
		int left;

		bench_told(bench, port);
		if (credit_expected(&bench->sw->port[port].link.rx[vc], 4) > 0)
			bench_arrive(bench, port, &what);
		bench_grant(
			bench, (unsigned)rng_below(&rng, PORTS), vc, (uint32_t)rng_below(&rng, 7));
		for (unsigned i = 0; i < 2; i++) {
			port = (unsigned)rng_below(&rng, PORTS);
			left = bench_leave(bench, port);
			if (left < 0 || bench->packet[left].control)
				continue;
			vc = bench->packet[left].vc;
			assert_true((unsigned)left >= last[bench->packet[left].in_port][vc][port]);
			last[bench->packet[left].in_port][vc][port] = (unsigned)left;
			left_all++;
		}
		bench_check(bench);
	}
	assert_true(left_all > BENCH_PACKETS / 2);
}

UNIT_TEST(the_sets_are_right_and_order_is_kept_under_random_load_with_voqs)
{
	run_random(true, 1);
}

UNIT_TEST(the_sets_are_right_and_order_is_kept_under_random_load_without_voqs)
{
	run_random(false, 2);
}
