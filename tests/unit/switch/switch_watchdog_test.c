/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The watchdog. It checks every sixteenth of its time, which limits its precision. */

#include "switch_bench.h"

#define PORTS       6
#define VCS         2
#define OUT         5
#define WATCHDOG_PS (50 * PS_PER_MS)
#define EXACT_PS    (WATCHDOG_PS / 16)

static struct bench *start(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.voq = voq;
	config.watchdog_ps = WATCHDOG_PS;
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

/* Advances time, lets the outputs send, and lets the watchdog check. */
static void pass(struct bench *bench, weft_time time_ps)
{
	weft_time end = bench->now + time_ps;

	while (bench->now < end) {
		weft_time left = end - bench->now;

		bench_pass(bench, left < PS_PER_MS ? left : PS_PER_MS, 0);
		for (unsigned output = 0; output < PORTS; output++)
			assert_int_equal(bench_leave(bench, output), -1);
	}
}

#define TEST(name) UNIT_BED(name, set_up, tear_down, struct bench *bench)

TEST(a_packet_that_cannot_move_is_discarded_after_the_watchdogs_time_and_not_before)
{
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS - 1);
	assert_int_equal(bench_discarded(bench), 0);
	pass(bench, EXACT_PS + 1);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_count(bench, 0, SWITCH_DISCARD_WATCHDOG), 1);
}

TEST(a_look_right_at_the_time_discards_and_one_before_does_not)
{
	weft_time stalled_at = bench->now;

	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	switch_poll_watchdog(bench->sw, stalled_at + WATCHDOG_PS - 1);
	assert_int_equal(bench_discarded(bench), 0);
	bench->sw->watchdog_due = 0;
	switch_poll_watchdog(bench->sw, stalled_at + WATCHDOG_PS);
	assert_int_equal(bench_discarded(bench), 1);
}

TEST(a_packet_is_discarded_in_time_whenever_it_came)
{
	for (unsigned i = 0; i < 10; i++) {
		pass(bench, i * 7 * PS_PER_MS);
		bench_send(bench, 0, 0, OUT);
		assert_int_equal(bench_leave(bench, OUT), -1);
		pass(bench, WATCHDOG_PS + EXACT_PS + PS_PER_MS);
		assert_int_equal(bench_discarded(bench), 1);
		bench_told(bench, 0);
	}
}

TEST(the_time_starts_anew_for_the_next_head)
{
	bench_send(bench, 0, 0, OUT);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS + EXACT_PS);
	assert_int_equal(bench_discarded(bench), 1);
	pass(bench, WATCHDOG_PS - 2 * EXACT_PS);
	assert_int_equal(bench_discarded(bench), 0);
	pass(bench, 3 * EXACT_PS);
	assert_int_equal(bench_discarded(bench), 1);
}

TEST(a_head_that_moved_in_time_leaves_nothing_to_the_next_one)
{
	bench_send(bench, 0, 0, OUT);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS - EXACT_PS);
	bench_grant(bench, OUT, 0, 1);
	assert_true(bench_leave(bench, OUT) >= 0);
	pass(bench, WATCHDOG_PS - EXACT_PS);
	assert_int_equal(bench_discarded(bench), 0);
}

/* Each credit frame causes another attempt for the head, which does not count as movement. */
TEST(credits_that_do_not_suffice_do_not_start_the_time_anew)
{
	const struct bench_packet what = {.destination = OUT, .blocks = 60};

	bench_arrive(bench, 0, &what);
	for (weft_time waited = 0; waited <= WATCHDOG_PS + EXACT_PS; waited += PS_PER_MS) {
		bench_grant(bench, OUT, 0, 1);
		assert_int_equal(bench_leave(bench, OUT), -1);
		pass(bench, PS_PER_MS);
	}
	assert_int_equal(bench_discarded(bench), 1);
}

/* They have all waited too long. None gets another round because another was checked before it. */
TEST(all_heads_that_have_waited_too_long_go_at_the_same_look)
{
	for (unsigned input = 0; input < PORTS; input++)
		for (unsigned vc = 0; vc < VCS; vc++)
			bench_send(bench, input, vc, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS + EXACT_PS);
	assert_int_equal(bench_discarded(bench), PORTS * VCS);
}

TEST(a_head_that_came_later_stays)
{
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS / 2);
	bench_send(bench, 1, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS / 2 + EXACT_PS);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_count(bench, 1, SWITCH_DISCARD_WATCHDOG), 0);
}

TEST(the_space_of_the_discarded_packet_is_granted_again)
{
	const struct bench_packet what = {.destination = OUT, .blocks = 60};

	bench_arrive(bench, 0, &what);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, WATCHDOG_PS + EXACT_PS);
	bench_discarded(bench);
	assert_int_equal(bench_told(bench, 0).limit[0], 64 + 60);
}

TEST(what_the_discarded_head_held_up_goes_on)
{
	const struct bench_packet long_one = {.destination = OUT, .blocks = 20};
	unsigned behind;

	bench_grant(bench, OUT, 0, 10);
	bench_arrive(bench, 0, &long_one);
	behind = bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	bench_pass(bench, WATCHDOG_PS + EXACT_PS, 0);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_leave(bench, OUT), behind);
}

UNIT_TEST(without_voqs_the_way_is_free_for_other_outputs_again)
{
	OWNED(bench) *bench = start(false);
	unsigned behind;

	bench_grant(bench, 4, 0, 10);
	bench_send(bench, 0, 0, OUT);
	behind = bench_send(bench, 0, 0, 4);
	assert_int_equal(bench_leave(bench, OUT), -1);
	bench_pass(bench, WATCHDOG_PS + EXACT_PS, 0);
	assert_int_equal(bench_discarded(bench), 1);
	bench_check(bench);
	assert_int_equal(bench_leave(bench, 4), behind);
}

UNIT_TEST(a_watchdog_that_is_off_discards_nothing)
{
	struct switch_config config = bench_config(PORTS, VCS);
	OWNED(bench) *bench;

	config.watchdog_ps = WEFT_TIME_NEVER;
	bench = bench_create(&config);
	bench_send(bench, 0, 0, OUT);
	assert_int_equal(bench_leave(bench, OUT), -1);
	pass(bench, 10 * PS_PER_S);
	assert_int_equal(bench_discarded(bench), 0);
}

/* Virtual time begins at 0. */
UNIT_TEST(a_stall_at_time_zero_is_given_its_time_too)
{
	struct switch_config config = bench_config(PORTS, VCS);
	struct weft_packet packet = {.blocks = 1, .destination = OUT}, *left;
	const uint8_t table[PORTS] = {0, 1, 2, 3, 4, 5};
	struct weft_switch *sw;

	config.watchdog_ps = WATCHDOG_PS;
	config.table_port = table;
	config.table_hosts = PORTS;
	config.open_ports = BIT64(0) | BIT64(OUT);
	sw = switch_create(&config, 0);
	assert_non_null(sw);
	sw->port[OUT].link.tx[0].limit = 0;
	switch_count_in(&sw->port[0], 1, packet.bytes);
	switch_receive(sw, &packet, 0);
	assert_int_equal(switch_transmit(sw, OUT, &left, 1, 0), 0);
	switch_poll_watchdog(sw, 0);
	assert_null(switch_take_discards(sw));
	switch_drain(sw);
	switch_destroy(sw);
}
