/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The guarantee of delivery when every frame and every acknowledgement passes through a third
 * host. */

#include "nic/nic_private.h"
#include "nic_load.h"

static void start(struct channel_options *options)
{
	*options = channel_good;
	options->hosts = 6;
	options->vcs = 2;
	options->itbs = true;
}

static void expect_passed(const struct channel *channel)
{
	assert_true(channel_count(channel, NIC_ITB_ABSORBED) > 10000);
	assert_true(channel_count(channel, NIC_ITB_CONTROL) > 100);
	assert_int_equal(channel_count(channel, NIC_ITB_ABSORBED),
		channel_count(channel, NIC_ITB_REINJECTED));
	assert_int_equal(channel_count(channel, NIC_DISCARD_ROUTING_ERROR), 0);
}

#define LOAD_TEST(f) UNIT_WITH(f, make, unmake)

LOAD_TEST(nothing_is_lost_while_the_pool_suffices)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options;

	start(&options);
	options.itb_pool = 64 << 20;
	run_load(channel, &options, 200000);
	expect_passed(channel);
	assert_int_equal(channel_count(channel, NIC_ITB_DISCARDED), 0);
	assert_int_equal(channel_count(channel, NIC_DISCARD_END_MARK), 0);
}

LOAD_TEST(what_pools_of_8_kib_discard_comes_again_and_in_order)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options;

	start(&options);
	options.itb_pool = 8 * 1024;
	run_load(channel, &options, 200000);
	expect_passed(channel);
	assert_true(channel_count(channel, NIC_ITB_DISCARDED) > 1000);
	for (unsigned i = 0; i < options.hosts; i++)
		assert_true(channel->station[i].nic->itb->pool.peak <= 8 * 1024);
}

LOAD_TEST(loss_damage_and_doubles_on_the_way_are_survived)
{
	OWNED(channel) *channel = channel_of(state);
	struct channel_options options;

	start(&options);
	options.paths = CHANNEL_PATHS_MAX;
	options.path_delay = 2;
	options.spread = 10;
	options.choice = &route_choice_round_robin;
	options.loss_ppm = options.control_loss_ppm = 5000;
	options.duplicate_ppm = 5000;
	options.damage_ppm = 2500;
	options.itb_pool = 16 * 1024;
	run_load(channel, &options, 200000);
	expect_passed(channel);
}
