/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The switch and its links: hellos, links that go down and up again, neighbours that restart, ports
 * without credits. */

#include "switch_bench.h"

#define PORTS      4
#define VCS        2
#define VC_BLOCKS  64 /* bench_config() */
#define OUT        3
#define DOWN_AFTER (3 * BENCH_HELLO_PS) /* missed hellos */

static struct bench *start(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.voq = voq;
	return bench_create(&config);
}

static int set_up(void **state)
{
	*state = start(true);
	return 0;
}

static int tear_down(void **state)
{
	bench_destroy(*state);
	return 0;
}

static void cut(struct bench *bench, unsigned port)
{
	bench_pass(bench, DOWN_AFTER + PS_PER_MS, BIT64(port));
	assert_int_equal(bench->sw->usable & BIT64(port), 0);
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct bench *bench)

TEST(a_silent_link_is_down_after_three_hellos_and_its_queues_are_discarded)
{
	bench_send(bench, 0, 0, OUT);
	bench_send(bench, 1, 1, OUT);
	bench_pass(bench, DOWN_AFTER, BIT64(OUT));
	assert_int_equal(switch_stored_packets(bench->sw), 2);
	bench_pass(bench, 1, BIT64(OUT));
	assert_int_equal(switch_stored_packets(bench->sw), 0);
	assert_int_equal(bench_discarded(bench), 2);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 1);
	assert_int_equal(bench_count(bench, 1, SWITCH_DISCARD_LINK_DOWN), 1);
}

TEST(the_poll_tells_that_the_link_went_down_once)
{
	weft_time later = bench->now + DOWN_AFTER + 1;

	bench_pass(bench, DOWN_AFTER, BIT64(OUT));
	assert_int_not_equal(switch_poll_link(bench->sw, OUT, later) & LINK_WENT_DOWN, 0);
	assert_int_equal(switch_poll_link(bench->sw, OUT, later + 1) & LINK_WENT_DOWN, 0);
}

TEST(stalled_and_ready_packets_are_discarded_alike)
{
	bench_send(bench, 0, 0, OUT);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1); /* now the head is stalled */
	bench_send(bench, 1, 0, OUT);                  /* and this one is not */
	cut(bench, OUT);
	assert_int_equal(bench_discarded(bench), 3);
}

TEST(the_space_of_what_was_discarded_is_granted_again)
{
	const struct bench_packet what = {.destination = OUT, .blocks = VC_BLOCKS};

	bench_arrive(bench, 0, &what);
	cut(bench, OUT);
	bench_discarded(bench);
	assert_int_equal(bench_told(bench, 0).limit[0], 2 * VC_BLOCKS);
}

TEST(control_frames_that_wait_are_discarded_and_counted_apart)
{
	const struct bench_packet control = {.destination = OUT, .control = true};

	bench_arrive(bench, 0, &control);
	bench_arrive(bench, 1, &control);
	cut(bench, OUT);
	assert_int_equal(bench_discarded(bench), 2);
	assert_int_equal(bench_count(bench, 0, SWITCH_CONTROL_DISCARD_DOWN), 1);
	assert_int_equal(bench_count(bench, 1, SWITCH_CONTROL_DISCARD_DOWN), 1);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 0);
}

TEST(other_outputs_do_not_notice)
{
	unsigned other = bench_send(bench, 0, 0, 2);

	bench_send(bench, 0, 0, OUT);
	cut(bench, OUT);
	bench_grant(bench, 2, 0, 10);
	assert_int_equal(bench_leave(bench, 2), other);
	bench_discarded(bench);
}

TEST(later_arrivals_for_a_link_that_is_down_are_discarded)
{
	static const uint8_t route[] = {ROUTE_PORT_BIT | OUT};
	const struct bench_packet by_route = {.route = route, .route_length = 1};
	const struct bench_packet control = {.destination = OUT, .control = true};

	cut(bench, OUT);
	bench_send(bench, 0, 0, OUT);
	bench_arrive(bench, 0, &by_route);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 2);
	bench_arrive(bench, 0, &control);
	assert_int_equal(bench_count(bench, 0, SWITCH_CONTROL_DISCARD_DOWN), 1);
	assert_int_equal(bench_discarded(bench), 3);
}

TEST(later_arrivals_take_an_alternative_of_the_table)
{
	const struct bench_packet control = {.destination = OUT, .control = true};
	unsigned data, last;

	bench->alternatives[OUT] = BIT64(OUT) | BIT64(2);
	cut(bench, OUT);
	bench_grant(bench, 2, 0, 10);
	data = bench_send(bench, 0, 0, OUT);
	last = bench_arrive(bench, 0, &control);
	assert_int_equal(bench_leave(bench, 2), last);
	assert_int_equal(bench_leave(bench, 2), data);
}

TEST(an_alternative_that_is_down_too_is_none)
{
	bench->alternatives[OUT] = BIT64(2) | BIT64(60);
	bench_pass(bench, DOWN_AFTER + PS_PER_MS, BIT64(OUT) | BIT64(2));
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 1);
	bench_discarded(bench);
}

TEST(a_source_route_has_no_alternative)
{
	static const uint8_t route[] = {ROUTE_PORT_BIT | OUT};
	const struct bench_packet what = {.destination = OUT, .route = route, .route_length = 1};

	bench->alternatives[OUT] = BIT64(2);
	cut(bench, OUT);
	bench_arrive(bench, 0, &what);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 1);
	bench_discarded(bench);
}

TEST(nothing_goes_past_the_queues_to_a_link_that_is_down)
{
	struct weft_packet packet = {.blocks = 1, .destination = OUT};

	bench_grant(bench, OUT, 0, 10);
	cut(bench, OUT);
	assert_int_equal(bench_pass_queues(bench, 0, &packet, UINT64_MAX), SWITCH_PORT_NONE);
}

TEST(a_link_that_is_up_again_carries_packets_with_its_old_credits)
{
	unsigned number;

	bench_grant(bench, OUT, 0, 10);
	cut(bench, OUT);
	bench_hello(bench, OUT);
	assert_int_not_equal(bench->sw->usable & BIT64(OUT), 0);
	number = bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), number);
}

TEST(a_credit_frame_brings_a_link_up_as_a_hello_does)
{
	unsigned number;

	cut(bench, OUT);
	bench_grant(bench, OUT, 0, 1);
	number = bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), number);
}

TEST(a_link_goes_down_as_often_as_it_is_cut)
{
	for (unsigned i = 0; i < 5; i++) {
		bench_send(bench, 0, 0, OUT);
		cut(bench, OUT);
		assert_int_equal(bench_discarded(bench), 1);
		bench_hello(bench, OUT);
	}
}

/* Otherwise, packets for a neighbour that never appears would fill the buffers permanently. */
TEST(a_neighbour_that_never_comes_is_a_link_that_is_down)
{
	struct link_end *link = &bench->sw->port[OUT].link;
	const struct link_end_config config = link->config;

	link_end_init(link, &config, bench->now); /* as if there had been no contact */
	bench_send(bench, 0, 0, OUT);
	bench_pass(bench, DOWN_AFTER, BIT64(OUT));
	assert_int_equal(bench_discarded(bench), 0);
	bench_pass(bench, PS_PER_MS, BIT64(OUT));
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_LINK_DOWN), 1);
}

UNIT_TEST(without_voqs_packets_behind_other_heads_are_discarded_too)
{
	OWNED(bench) *bench = start(false);
	unsigned head = bench_send(bench, 0, 0, 2), behind;

	bench_send(bench, 0, 0, OUT);
	bench_send(bench, 0, 0, OUT);
	behind = bench_send(bench, 0, 0, 2);
	bench_send(bench, 0, 0, OUT);
	cut(bench, OUT);
	assert_int_equal(bench_discarded(bench), 3);
	bench_check(bench);
	bench_grant(bench, 2, 0, 10);
	assert_int_equal(bench_leave(bench, 2), head);
	assert_int_equal(bench_leave(bench, 2), behind);
	assert_int_equal(bench_leave(bench, 2), -1);
}

UNIT_TEST(without_voqs_a_queue_that_lost_its_tail_goes_on)
{
	OWNED(bench) *bench = start(false);
	unsigned head = bench_send(bench, 0, 0, 2), next;

	bench_send(bench, 0, 0, OUT);
	cut(bench, OUT);
	bench_discarded(bench);
	next = bench_send(bench, 0, 0, 1);
	bench_grant_all(bench);
	assert_int_equal(bench_leave(bench, 2), head);
	assert_int_equal(bench_leave(bench, 1), next);
}

UNIT_TEST(without_voqs_the_packet_behind_a_discarded_head_goes_on)
{
	OWNED(bench) *bench = start(false);
	unsigned behind;

	bench_grant(bench, 2, 0, 10);
	bench_send(bench, 0, 0, OUT);
	behind = bench_send(bench, 0, 0, 2);
	cut(bench, OUT);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_leave(bench, 2), behind);
}

TEST(a_new_life_of_the_neighbour_voids_the_credits_of_the_old_one)
{
	bench_grant(bench, OUT, 0, 10);
	bench_meet(bench, OUT, 2000);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
}

TEST(packets_that_wait_go_to_the_new_life_when_it_grants)
{
	unsigned number = bench_send(bench, 0, 0, OUT);

	bench_meet(bench, OUT, 2000);
	assert_int_equal(switch_stored_packets(bench->sw), 1);
	bench_grant(bench, OUT, 0, 1);
	assert_int_equal(bench_leave(bench, OUT), number);
}

TEST(packets_of_the_old_life_go_on_and_take_their_space_until_then)
{
	const struct bench_packet what = {.destination = OUT, .blocks = 10};

	bench_arrive(bench, 0, &what);
	bench_meet(bench, 0, 2000);
	assert_int_equal(bench_told(bench, 0).limit[0], VC_BLOCKS - 10);
	bench_grant(bench, OUT, 0, 10);
	assert_true(bench_leave(bench, OUT) >= 0);
	assert_int_equal(bench_told(bench, 0).limit[0], VC_BLOCKS);
}

TEST(a_neighbour_that_does_not_know_us_yet_is_granted_nothing)
{
	const struct control_hello hello = {.device = 9, .session = 2000, .peer_session = 1};

	switch_on_hello(bench->sw, 0, &hello, bench->now);
	bench_send(bench, 0, 0, OUT); /* it was meant for the earlier life of this switch */
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_CREDIT_VIOLATION), 1);
	assert_int_equal(
		switch_poll_link(bench->sw, 0, bench->now + PS_PER_S) & LINK_SEND_CREDIT, 0);
	bench_discarded(bench);
}

TEST(credits_for_another_number_of_vcs_change_nothing)
{
	struct control_credit credit = {.session = bench->peer_session[OUT],
		.peer_session = BENCH_SESSION,
		.vcs = VCS + 1,
		.limit = {10, 10, 10}};

	switch_on_credit(bench->sw, OUT, &credit, bench->now);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
}

TEST(a_lost_data_frame_costs_the_neighbour_nothing_after_its_next_credit_frame)
{
	struct control_credit *credit = &bench->peer_credit[0];

	credit->sent[0] = 10; /* sent, but never arrived here */
	switch_on_credit(bench->sw, 0, credit, bench->now);
	assert_int_not_equal(switch_poll_link(bench->sw, 0, bench->now) & LINK_SEND_CREDIT, 0);
	assert_int_equal(bench_told(bench, 0).limit[0], 10 + VC_BLOCKS);
}

TEST(hellos_and_credits_fall_due_at_their_intervals)
{
	struct link_end *link = &bench->sw->port[0].link;
	struct control_hello hello;

	link_end_fill_hello(link, &hello, bench->now);
	bench_told(bench, 0);
	assert_int_equal(switch_poll_link(bench->sw, 0, bench->now + PS_PER_MS - 1), 0);
	assert_int_equal(switch_poll_link(bench->sw, 0, bench->now + PS_PER_MS), LINK_SEND_CREDIT);
	assert_int_equal(switch_poll_link(bench->sw, 0, bench->now + BENCH_HELLO_PS),
		LINK_SEND_CREDIT | LINK_SEND_HELLO);
}

UNIT_TEST(a_switch_that_grants_each_packet_owes_a_credit_frame_for_one)
{
	for (unsigned each = 0; each < 2; each++) {
		struct switch_config config = bench_config(PORTS, VCS);
		OWNED(bench) *bench;
		struct control_hello hello;

		config.credits_each = each;
		bench = bench_create(&config);
		bench_grant_all(bench);
		link_end_fill_hello(&bench->sw->port[0].link, &hello, bench->now);
		bench_send(bench, 0, 0, OUT);
		bench_told(bench, 0);
		assert_true(bench_leave(bench, OUT) >= 0);
		assert_int_equal(
			switch_poll_link(bench->sw, 0, bench->now), each ? LINK_SEND_CREDIT : 0);
	}
}

UNIT_TEST(a_port_without_a_cable_says_nothing_and_never_goes_down)
{
	struct switch_config config = bench_config(PORTS, VCS);
	OWNED(bench) *bench;

	config.absent_ports = BIT64(OUT);
	bench = bench_create(&config);
	assert_int_equal(switch_poll_link(bench->sw, OUT, bench->now + PS_PER_S), 0);
}

static struct bench *start_open(void)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.open_ports = BIT64(0) | BIT64(OUT);
	return bench_create(&config);
}

UNIT_TEST(an_open_port_sends_without_a_neighbour_that_grants)
{
	OWNED(bench) *bench = start_open();
	unsigned number = bench_send(bench, 0, 0, OUT);

	assert_int_equal(bench_leave(bench, OUT), number);
	bench_pass(bench, PS_PER_S, UINT64_MAX & ~BIT64(1) & ~BIT64(2));
	assert_int_not_equal(bench->sw->usable & BIT64(OUT), 0);
}

UNIT_TEST(an_open_port_sends_what_one_buffer_holds_between_two_looks)
{
	OWNED(bench) *bench = start_open();
	const struct bench_packet what = {.destination = OUT, .blocks = VC_BLOCKS};

	for (unsigned input = 0; input < 2; input++)
		bench_arrive(bench, input, &what);
	assert_true(bench_leave(bench, OUT) >= 0);
	assert_int_equal(bench_leave(bench, OUT), -1);
	switch_poll_link(bench->sw, OUT, bench->now);
	assert_true(bench_leave(bench, OUT) >= 0);
}

UNIT_TEST(an_open_port_is_never_overrun_either)
{
	OWNED(bench) *bench = start_open();
	const struct bench_packet what = {.destination = 1, .blocks = VC_BLOCKS};

	for (unsigned i = 0; i < 5; i++) {
		bench_arrive(bench, 0, &what);
		switch_poll_link(bench->sw, 0, bench->now);
		bench_check(bench);
	}
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_CREDIT_VIOLATION), 4);
	bench_discarded(bench);
}

/* Cuts and restarts at random, data and control frames on all ports: everything is accounted
 * for. */
static void run_random(bool voq, uint64_t seed)
{
	OWNED(bench) *bench = start(voq);
	uint64_t discarded = 0;
	struct rng rng;

	rng_init(&rng, seed, 0, 0);
	for (unsigned i = 0; i < 3000; i++) {
		unsigned port = (unsigned)rng_below(&rng, PORTS);
		unsigned vc = (unsigned)rng_below(&rng, VCS);
		const struct bench_packet what = {
			.destination = (uint16_t)rng_below(&rng, PORTS),
			.vc = (uint8_t)vc,
			.sl = (uint8_t)rng_below(&rng, 16),
			.blocks = (uint16_t)(1 + rng_below(&rng, 8)),
			.control = rng_below(&rng, 10) == 0,
		};

		bench_arrive(bench, port, &what);
		bench_grant(bench, (unsigned)rng_below(&rng, PORTS), vc, 6);
		bench_leave(bench, (unsigned)rng_below(&rng, PORTS));
		if (rng_below(&rng, 20) == 0)
			bench_told(bench, port);
		if (rng_below(&rng, 50) == 0)
			bench_pass(bench, DOWN_AFTER + PS_PER_MS, BIT64(port));
		if (rng_below(&rng, 50) == 0)
			bench_meet(bench, port, 3000 + i);
		discarded += bench_discarded(bench);
		bench_check(bench);
	}
	assert_true(discarded > 100);
}

UNIT_TEST(nothing_is_unaccounted_for_when_links_come_and_go)
{
	run_random(true, 1);
}

UNIT_TEST(nothing_is_unaccounted_for_without_voqs_either)
{
	run_random(false, 2);
}
