/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The guarantee of delivery under random load, on fabrics that break every rule they can. */

#include "nic_load.h"

#define LOAD_TEST(f) UNIT_WITH(f, make, unmake)

LOAD_TEST(a_good_fabric_needs_no_repetition)
{
	OWNED(channel) *channel = channel_of(state);

	run_load(channel, &channel_good, 200000);
	assert_int_equal(channel_count(channel, NIC_FRAMES_RETRANSMITTED), 0);
	assert_int_equal(channel_count(channel, NIC_DISCARD_DUPLICATE), 0);
	assert_int_equal(channel_count(channel, NIC_AGAIN_SENT), 0);
}

LOAD_TEST(a_million_frames_survive_1_percent_loss)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.loss_ppm = options.control_loss_ppm = 10000;
	run_load(channel, &options, 1000000);
	assert_true(channel_count(channel, NIC_FRAMES_RETRANSMITTED) > 0);
}

LOAD_TEST(messages_survive_10_percent_loss)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.hosts = 4;
	options.loss_ppm = options.control_loss_ppm = 100000;
	run_load(channel, &options, 200000);
}

LOAD_TEST(messages_survive_the_loss_of_every_second_acknowledgement)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.control_loss_ppm = 500000;
	run_load(channel, &options, 200000);
}

LOAD_TEST(order_survives_paths_of_different_length)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.paths = CHANNEL_PATHS_MAX;
	options.path_delay = 3;
	options.choice = &route_choice_random;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_FRAMES_REORDERED) > 10000);
	assert_int_equal(channel_count(channel, NIC_GO_BACKS), 0); /* late is not lost */
}

LOAD_TEST(order_survives_frames_that_overtake_each_other)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.spread = 20;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_FRAMES_REORDERED) > 10000);
}

LOAD_TEST(frames_that_arrive_twice_are_delivered_once)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.duplicate_ppm = 200000;
	options.spread = 5;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_DISCARD_DUPLICATE) > 10000);
}

LOAD_TEST(damaged_frames_are_asked_for_again)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.damage_ppm = 20000;
	run_load(channel, &options, 200000);
	assert_true(channel->bad_frames > 100);
	assert_true(channel_count(channel, NIC_DISCARD_PAYLOAD_CRC) > 100);
	assert_true(channel_count(channel, NIC_AGAIN_SENT) > 100);
}

LOAD_TEST(many_hosts_and_vcs_survive_everything_at_once)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.hosts = 8;
	options.vcs = 4;
	options.paths = CHANNEL_PATHS_MAX;
	options.path_delay = 2;
	options.spread = 10;
	options.choice = &route_choice_round_robin;
	options.loss_ppm = options.control_loss_ppm = 10000;
	options.duplicate_ppm = 10000;
	options.damage_ppm = 5000;
	run_load(channel, &options, 300000);
}

LOAD_TEST(frames_routed_by_table_survive_loss)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options = channel_good;

	options.by_table = true;
	options.loss_ppm = 10000;
	run_load(channel, &options, 100000);
}

LOAD_TEST(the_same_seed_gives_the_same_run)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = channel_good;
	uint64_t first[NIC_COUNTER_COUNT], steps;

	options.hosts = 3;
	options.loss_ppm = options.duplicate_ppm = 20000;
	options.paths = 2;
	options.choice = &route_choice_random;
	run_load(channel, &options, 20000);
	memcpy(first, nic_counters(channel->station[0].nic), sizeof(first));
	steps = channel->step;
	channel_stop(channel);
	run_load(channel, &options, 20000);
	assert_int_equal(steps, channel->step);
	assert_memory_equal(first, nic_counters(channel->station[0].nic), sizeof(first));
	channel_stop(channel);
}
