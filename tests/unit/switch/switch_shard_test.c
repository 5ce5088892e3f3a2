/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A switch divided among cores looks like one switch to its neighbours. Shards run alternately
 * here; switch_shard_threads_test.c runs them at the same time. */

#include <errno.h>

#include "shard_bench.h"

#define SEEDS 12
#define TURNS 400

static struct shard_bench *of_seed(uint64_t seed, weft_time watchdog_ps)
{
	struct rng rng;
	unsigned ports, shards;

	rng_init(&rng, seed, 0, 1);
	ports = 2 + (unsigned)rng_below(&rng, PB_PORTS - 1);
	shards = 1 + (unsigned)rng_below(&rng, ports < 5 ? ports : 5);
	return pb_create(ports, 1 + (unsigned)rng_below(&rng, PB_VCS), shards, seed, watchdog_ps);
}

/* Shards run at random, so some are far ahead of others. */
static void run(struct shard_bench *bench, struct rng *rng, unsigned turns)
{
	for (unsigned turn = 0; turn < turns; turn++) {
		pb_turn(bench, (unsigned)rng_below(rng, bench->shards));
		pb_check(bench);
	}
}

UNIT_TEST(nothing_is_lost_doubled_or_late_whatever_comes)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		OWNED(shard_bench) *bench = of_seed(seed, WEFT_TIME_NEVER);
		struct rng rng;

		rng_init(&rng, seed, 1, 1);
		bench->lossless = true;
		run(bench, &rng, TURNS);
		pb_finish(bench);
		assert_true(pb_sum(bench, true) > TURNS);
		assert_int_equal(pb_sum(bench, false), pb_sum(bench, true));
		pb_expect_all_credits(bench);
	}
}

/* Neighbours fall silent and return, in the same life or in a new one. */
static void trouble(struct shard_bench *bench, struct rng *rng, unsigned turn)
{
	unsigned port = (unsigned)rng_below(rng, bench->ports);
	struct pb_neighbour *n = &bench->neighbour[port];

	if (rng_below(rng, 40) == 0)
		n->silent = !n->silent;
	if (rng_below(rng, 100) == 0 && !n->silent)
		pb_meet(bench, port, 2000 + turn);
}

static uint64_t discarded(const struct shard_bench *bench)
{
	uint64_t sum = 0;

	for (unsigned shard = 0; shard < bench->shards; shard++)
		sum += bench->discarded[shard];
	return sum;
}

UNIT_TEST(all_is_accounted_for_while_links_fail_and_heads_time_out)
{
	uint64_t all = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		OWNED(shard_bench) *bench = of_seed(seed, 2 * PS_PER_MS);
		struct rng rng;

		rng_init(&rng, seed, 1, 1);
		for (unsigned turn = 0; turn < 4 * TURNS; turn++) {
			trouble(bench, &rng, turn);
			pb_turn(bench, (unsigned)rng_below(&rng, bench->shards));
			pb_check(bench);
		}
		for (unsigned port = 0; port < bench->ports; port++)
			bench->neighbour[port].silent = false;
		pb_finish(bench);
		assert_int_equal(pb_sum(bench, false) + discarded(bench), pb_sum(bench, true));
		pb_expect_all_credits(bench);
		all += discarded(bench);
	}
	assert_true(all > 0);
}

/* Four ports in two shards: 0 and 2 in shard 0, 1 and 3 in shard 1. */
static struct shard_bench *two_parts(unsigned vcs)
{
	struct shard_bench *bench = pb_create(4, vcs, 2, 1, WEFT_TIME_NEVER);

	bench->sends = 0;
	for (unsigned port = 0; port < bench->ports; port++)
		bench->neighbour[port].greedy = true;
	for (unsigned turn = 0; turn < 4; turn++)
		for (unsigned shard = 0; shard < 2; shard++)
			pb_turn(bench, shard);
	return bench;
}

/* As many packets as there are credits for. */
static unsigned send_all(struct shard_bench *bench, unsigned input, unsigned output)
{
	unsigned sent = 0;

	while (pb_send(bench, input, 0, output, 1, 0))
		sent++;
	switch_shard_flush(pb_owner(bench, input));
	return sent;
}

UNIT_TEST(a_part_that_stands_still_holds_no_more_than_the_buffers)
{
	OWNED(shard_bench) *bench = two_parts(1);

	for (unsigned turn = 0; turn < 100; turn++) {
		send_all(bench, 0, 1);
		send_all(bench, 2, 3);
		pb_turn(bench, 0);
		pb_check(bench);
	}
	assert_int_equal(switch_division_stored(bench->division), 2 * PB_BLOCKS);
	pb_finish(bench);
	pb_expect_all_credits(bench);
}

UNIT_TEST(the_other_ports_go_on_while_a_part_stands_still)
{
	OWNED(shard_bench) *bench = two_parts(2);

	for (unsigned turn = 0; turn < 100; turn++) {
		send_all(bench, 0, 1);
		while (pb_send(bench, 0, 1, 2, 1, UINT64_MAX))
			;
		pb_turn(bench, 0);
	}
	assert_int_equal(bench->neighbour[1].received, 0);
	assert_true(bench->neighbour[2].received > 100);
}

UNIT_TEST(inputs_of_all_parts_get_the_same_share_of_an_output)
{
	OWNED(shard_bench) *bench = two_parts(1);
	struct switch_shard *shard = pb_owner(bench, 3);

	for (unsigned turn = 0; turn < 200; turn++) {
		for (unsigned input = 0; input < 4; input++)
			send_all(bench, input, 3);
		switch_shard_pull(shard);
		pb_accept(bench, shard, 0, 0);
		for (unsigned i = 0; i < 4; i++)
			pb_transmit(bench, shard, 3, 1);
		for (unsigned input = 0; input < 4; input++)
			pb_link(bench, pb_owner(bench, input), input);
		switch_shard_push(shard);
		switch_shard_pull(pb_owner(bench, 0));
	}
	for (unsigned input = 0; input < 4; input++)
		assert_in_range(bench->neighbour[3].from[input], 199, 201);
}

/* The others learn of it in their next iteration. */
UNIT_TEST(a_link_that_is_down_is_down_for_all_parts)
{
	OWNED(shard_bench) *bench = two_parts(1);
	struct switch_shard *shard = pb_owner(bench, 0);

	bench->neighbour[1].silent = true;
	for (unsigned turn = 0; turn < 2000; turn++) {
		pb_turn(bench, 0);
		pb_turn(bench, 1);
	}
	assert_int_equal(shard->sw->usable & BIT64(1), 0);
	pb_send(bench, 0, 0, 1, 1, UINT64_MAX);
	assert_int_equal(shard->sw->port[0].count[SWITCH_DISCARD_LINK_DOWN], 1);
	pb_check(bench);
	pb_free_discards(bench, shard);
}

UNIT_TEST(what_is_on_its_way_to_a_link_that_goes_down_is_discarded)
{
	OWNED(shard_bench) *bench = two_parts(1);
	struct switch_shard *shard = pb_owner(bench, 1);

	send_all(bench, 0, 1);
	link_end_set_dark(&shard->sw->port[1].link, true, bench->now[1]);
	switch_poll_link(shard->sw, 1, bench->now[1]);
	pb_accept(bench, shard, 0, UINT64_MAX);
	pb_check(bench);
	assert_int_equal(shard->sw->port[0].count[SWITCH_DISCARD_LINK_DOWN], PB_BLOCKS);
	pb_free_discards(bench, shard);
	switch_shard_push(shard);
	pb_turn(bench, 0);
	assert_int_equal(credit_stored(&pb_port(bench, 0)->link.rx[0]), 0);
}

static struct weft_packet *control(struct shard_bench *bench, unsigned input, unsigned output)
{
	struct weft_packet *packet = pb_make(bench, input, 0, output, 1);

	assert_non_null(packet);
	packet->control = 1;
	packet->kind = FRAME_ACK;
	return packet;
}

UNIT_TEST(control_frames_go_from_part_to_part_before_data)
{
	OWNED(shard_bench) *bench = two_parts(1);
	struct switch_shard *from = pb_owner(bench, 0), *to = pb_owner(bench, 1);

	send_all(bench, 0, 1);
	switch_receive_control(from->sw, control(bench, 0, 1), bench->now[0]);
	switch_shard_flush(from);
	pb_check(bench);
	pb_accept(bench, to, 0, 0);
	pb_transmit(bench, to, 1, 1);
	assert_int_equal(bench->neighbour[1].control_received, 1);
	pb_check(bench);
}

UNIT_TEST(no_more_control_frames_are_on_their_way_than_the_reserve_has_places)
{
	OWNED(shard_bench) *bench = two_parts(1);
	struct switch_shard *from = pb_owner(bench, 0), *to = pb_owner(bench, 1);

	for (unsigned i = 0; i < 20; i++)
		switch_receive_control(from->sw, control(bench, 0, 1), bench->now[0]);
	assert_int_equal(from->sw->port[0].count[SWITCH_CONTROL_DISCARD_FULL], 12);
	switch_shard_flush(from);
	pb_accept(bench, to, 0, 0);
	pb_transmit(bench, to, 1, 8);
	switch_receive_control(from->sw, control(bench, 0, 1), bench->now[0]);
	assert_int_equal(from->sw->port[0].count[SWITCH_CONTROL_DISCARD_FULL], 12);
	pb_check(bench);
	pb_free_discards(bench, from);
}

UNIT_TEST(a_part_is_empty_when_nothing_of_its_inputs_is_anywhere)
{
	OWNED(shard_bench) *bench = two_parts(1);

	assert_true(switch_shard_is_empty(pb_owner(bench, 0)));
	pb_send(bench, 0, 0, 1, 1, 0);
	assert_false(switch_shard_is_empty(pb_owner(bench, 0)));
	pb_turn(bench, 0);
	pb_turn(bench, 1);
	assert_true(switch_shard_is_empty(pb_owner(bench, 1)));
	pb_finish(bench);
	assert_true(switch_shard_is_empty(pb_owner(bench, 0)));
}

static void expect_refusal(
	const struct switch_config *config, const uint8_t *owner, unsigned shards)
{
	assert_null(switch_division_create(config, owner, shards));
	assert_int_equal(errno, EINVAL);
}

UNIT_TEST(a_switch_that_cannot_be_divided_so_is_refused)
{
	static const uint8_t owner[PB_PORTS] = {0, 1, 0, 1};
	struct shard_bench bench = {.ports = 4, .vcs = 2};
	struct switch_config config = pb_config(&bench);

	expect_refusal(&config, owner, 1);
	expect_refusal(&config, owner, 3);
	expect_refusal(&config, owner, 0);
	expect_refusal(&config, owner, SWITCH_SHARDS_MAX + 1);
	config.voq = false;
	expect_refusal(&config, owner, 2);
}
