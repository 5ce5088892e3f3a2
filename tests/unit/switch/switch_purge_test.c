/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Detecting whether anything is stored, and discarding it (docs/explanation/the-mapper.md,
 * 'Distribution'). The mapper requests this when a fabric does not drain. */

#include "paper_detector.h"
#include "switch/adaptive_routing.h"
#include "switch/switch_congestion.h"
#include "switch_bench.h"

#define PORTS     4
#define VCS       3
#define VC_BLOCKS 64 /* bench_config() */

static struct bench *make(bool voq)
{
	struct switch_config config = bench_config(PORTS, VCS);

	config.voq = voq;
	return bench_create(&config);
}

/* Packets of one to four blocks between all ports, none of which may leave. Returns how many were
 * stored. */
static unsigned fill(struct bench *bench, uint64_t seed)
{
	uint64_t refused = 0;
	struct rng rng;

	rng_init(&rng, seed, 1, 2);
	for (unsigned i = 0; i < 300; i++) {
		unsigned vc = (unsigned)rng_below(&rng, VCS);
		const struct bench_packet what = {
			.destination = (uint16_t)rng_below(&rng, BENCH_HOSTS),
			.vc = (uint8_t)vc,
			.sl = (uint8_t)vc,
			.blocks = (uint16_t)(1 + rng_below(&rng, 4))};

		bench_arrive(bench, (unsigned)rng_below(&rng, PORTS), &what);
		if (i % 7 == 0) /* some heads find no credits, others have not been checked */
			bench_leave(bench, (unsigned)rng_below(&rng, PORTS));
	}
	for (unsigned port = 0; port < PORTS; port++)
		refused += bench_count(bench, port, SWITCH_DISCARD_CREDIT_VIOLATION);
	assert_int_equal(bench_discarded(bench), refused);
	return 300 - (unsigned)refused;
}

/* Each neighbour may fill each VC again, and no more. */
static void expect_whole_buffers(struct bench *bench)
{
	for (unsigned port = 0; port < PORTS; port++) {
		struct control_credit told = bench_told(bench, port);

		for (unsigned vc = 0; vc < VCS; vc++)
			assert_int_equal(told.limit[vc],
				bench->sw->port[port].link.rx[vc].received + VC_BLOCKS);
	}
}

static void purge(bool voq)
{
	OWNED(bench) *bench = make(voq);
	unsigned stored = fill(bench, 7);
	uint64_t purged = 0;

	assert_true(stored > 100);
	assert_int_equal(switch_stored_packets(bench->sw), stored);
	switch_purge(bench->sw);
	bench_check(bench);
	for (unsigned port = 0; port < PORTS; port++)
		purged += bench_count(bench, port, SWITCH_DISCARD_PURGED);
	assert_int_equal(purged, stored);
	assert_int_equal(bench_discarded(bench), stored);
	assert_int_equal(switch_stored_packets(bench->sw), 0);
	assert_true(switch_is_empty(bench->sw));
	expect_whole_buffers(bench);
}

UNIT_TEST(a_purge_discards_and_counts_all_that_is_stored)
{
	purge(true);
}

UNIT_TEST(a_purge_finds_what_waits_behind_heads_for_other_outputs)
{
	purge(false);
}

UNIT_TEST(what_comes_after_a_purge_passes)
{
	OWNED(bench) *bench = make(true);
	unsigned number;

	fill(bench, 9);
	switch_purge(bench->sw);
	bench_grant_all(bench);
	expect_whole_buffers(bench);
	number = bench_send(bench, 0, 1, 2);
	assert_int_equal(bench_leave(bench, 2), number);
}

UNIT_TEST(a_purge_leaves_control_frames_alone)
{
	const struct bench_packet control = {.destination = 2, .control = true, .kind = FRAME_ACK};
	OWNED(bench) *bench = make(true);
	unsigned number;

	bench_send(bench, 0, 0, 2);
	number = bench_arrive(bench, 1, &control);
	switch_purge(bench->sw);
	bench_check(bench);
	assert_int_equal(bench_discarded(bench), 1);
	assert_int_equal(bench_leave(bench, 2), number);
}

UNIT_TEST(the_detector_hears_of_a_purge)
{
	const struct congestion_detector_config detector = paper_detector();
	const struct arn_table_config table = paper_table();
	const struct switch_congestion_config config = {.seed = 1,
		.mode = adaptive_mode_find("none"),
		.stage = 1,
		.up_ports = BIT64(3),
		.detector = &detector,
		.table = &table};
	OWNED(bench) *bench = make(true);

	assert_int_equal(switch_congestion(bench->sw, &config), 0);
	for (unsigned i = 0; i < VC_BLOCKS; i++)
		bench_send(bench, 0, 0, 2);
	assert_int_not_equal(bench->sw->congestion->detector->output[2].state, CONGESTION_NONE);
	switch_purge(bench->sw);
	bench_check(bench);
	assert_int_equal(bench->sw->congestion->detector->output[2].passed, 0);
}

UNIT_TEST(a_switch_is_empty_exactly_when_nothing_is_stored)
{
	OWNED(bench) *bench = make(true);
	unsigned number;

	assert_true(switch_is_empty(bench->sw));
	number = bench_send(bench, 0, 0, 2);
	assert_false(switch_is_empty(bench->sw)); /* ready */
	assert_int_equal(bench_leave(bench, 2), -1);
	assert_false(switch_is_empty(bench->sw)); /* stalled */
	bench_grant(bench, 2, 0, 1);
	assert_false(switch_is_empty(bench->sw));
	assert_int_equal(bench_leave(bench, 2), number);
	assert_true(switch_is_empty(bench->sw));
}

UNIT_TEST(control_frames_that_wait_do_not_keep_a_switch_from_being_empty)
{
	const struct bench_packet control = {.destination = 2, .control = true, .kind = FRAME_ACK};
	OWNED(bench) *bench = make(true);

	bench_arrive(bench, 0, &control);
	assert_true(switch_is_empty(bench->sw));
	bench_send(bench, 0, 0, 2);
	assert_false(switch_is_empty(bench->sw));
}

UNIT_TEST(a_switch_whose_link_goes_down_is_as_empty_as_its_queues)
{
	OWNED(bench) *bench = make(false);

	bench_send(bench, 0, 0, 2);
	bench_send(bench, 0, 0, 3);
	bench_pass(bench, 4 * BENCH_HELLO_PS, BIT64(2));
	assert_false(switch_is_empty(bench->sw));
	bench_pass(bench, 4 * BENCH_HELLO_PS, BIT64(3));
	assert_true(switch_is_empty(bench->sw));
}

static void emptiness_is_what_the_queues_say_under_load(bool voq)
{
	OWNED(bench) *bench = make(voq);
	unsigned seen[2] = {0, 0};
	struct rng rng;

	rng_init(&rng, 3, 1, 2);
	for (unsigned i = 0; i < 4000; i++) {
		unsigned port = (unsigned)rng_below(&rng, PORTS);
		unsigned vc = (unsigned)rng_below(&rng, VCS);
		bool empty;

		switch (rng_below(&rng, 8)) {
		case 0:
			bench_send(bench, port, vc, (unsigned)rng_below(&rng, PORTS));
			break;
		case 1:
			bench_grant(bench, port, vc, 2);
			break;
		default:
			bench_leave(bench, port);
		}
		empty = switch_is_empty(bench->sw);
		assert_int_equal(empty, switch_stored_packets(bench->sw) == 0);
		seen[empty]++;
	}
	assert_true(seen[false] > 100 && seen[true] > 100);
}

UNIT_TEST(emptiness_is_what_the_queues_say)
{
	emptiness_is_what_the_queues_say_under_load(true);
	emptiness_is_what_the_queues_say_under_load(false);
}

UNIT_TEST(links_are_known_once_they_are_up_and_until_they_go_down)
{
	struct switch_config config = bench_config(PORTS, VCS);
	OWNED(bench) *bench;

	config.absent_ports = BIT64(0);
	config.open_ports = BIT64(1); /* the device at this port does not use our protocol */
	bench = bench_create(&config);
	assert_int_equal(bench->sw->linked, BIT64(2) | BIT64(3));
	bench_pass(bench, 4 * BENCH_HELLO_PS, BIT64(0) | BIT64(2));
	assert_int_equal(bench->sw->linked, BIT64(3));
	bench_hello(bench, 2);
	assert_int_equal(bench->sw->linked, BIT64(2) | BIT64(3));
}
