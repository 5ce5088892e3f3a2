/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The promise of delivery under random load, on fabrics that break every rule they can. */

#include "nic_channel.h"

static const struct channel_options good = {
	.hosts = 2,
	.vcs = 1,
	.paths = 1,
	.delay = 3,
	.mtu_bytes = 128,
	.window_frames = 64,
	.seed = 1,
	.choice = &route_choice_first,
};

static uint32_t random_bytes(struct channel *channel, uint32_t least)
{
	/* Mostly one frame, some at the edges of several. */
	if (rng_chance_ppm(&channel->rng, 700000))
		return least + (uint32_t)rng_below(&channel->rng, 100);
	return least + (uint32_t)rng_below(&channel->rng, CHANNEL_BODY_MAX - least);
}

static void send_something(struct channel *channel, struct station *station)
{
	unsigned hosts = channel->options.hosts;
	uint16_t to = (uint16_t)((station->host + 1 + rng_below(&channel->rng, hosts - 1)) % hosts);
	uint8_t sl = (uint8_t)rng_below(&channel->rng, 16);

	if (rng_chance_ppm(&channel->rng, 500000))
		station_send_body(station, to, sl, random_bytes(channel, BODY_MIN));
	else
		station_send_synthetic(
			station, to, sl, random_bytes(channel, SYNTHETIC_PREFIX_BYTES));
}

/* All that was sent has arrived, once, whole, in order, and every sender knows. */
static void check_promise(const struct channel *channel)
{
	uint64_t received = 0, acked = 0;

	for (unsigned i = 0; i < channel->options.hosts; i++) {
		const struct station *station = &channel->station[i];
		const uint64_t *count = nic_counters(station->nic);

		assert_int_equal(station->failed, 0);
		assert_int_equal(station->acked, count[NIC_MESSAGES_QUEUED]);
		assert_int_equal(station->sink->lost, 0);
		assert_int_equal(station->sink->duplicated, 0);
		assert_int_equal(station->sink->out_of_order, 0);
		assert_int_equal(station->sink->altered, 0);
		assert_int_equal(count[NIC_DISCARD_CREDIT_VIOLATION], 0);
		received += station->messages_received;
		acked += station->acked;
		for (unsigned j = 0; j < channel->options.hosts; j++)
			assert_memory_equal(station->sent[j], channel->station[j].received[i],
				sizeof(station->sent[j]));
	}
	assert_int_equal(received, acked);
	assert_int_equal(channel_count(channel, NIC_MESSAGES_DELIVERED), acked);
	/* Nobody gave up or took its peer for restarted. */
	assert_int_equal(channel_count(channel, NIC_GIVE_UPS), 0);
	assert_int_equal(channel_count(channel, NIC_FLOW_RESTARTS), 0);
	assert_int_equal(channel_count(channel, NIC_FRAMES_ABANDONED), 0);
}

/* Random messages until so many data frames have been sent in all. */
static void run_load(
	struct channel *channel, const struct channel_options *options, uint64_t data_frames)
{
	channel_start(channel, options);
	while (channel->data_frames < data_frames) {
		for (unsigned i = 0; i < options->hosts; i++)
			for (unsigned j = 0; j < 4; j++)
				send_something(channel, &channel->station[i]);
		channel_step(channel);
		if (channel->step % 512 == 0)
			channel_check(channel);
	}
	channel_settle(channel, 2000000);
	channel_check(channel);
	check_promise(channel);
}

static struct channel *channel_of(void **state)
{
	return *state;
}

static int make(void **state)
{
	*state = calloc(1, sizeof(struct channel));
	return *state == NULL;
}

static int unmake(void **state)
{
	free(*state);
	return 0;
}

static void a_good_fabric_needs_no_repetition(void **state)
{
	struct channel *channel = channel_of(state);

	run_load(channel, &good, 200000);
	assert_int_equal(channel_count(channel, NIC_FRAMES_RETRANSMITTED), 0);
	assert_int_equal(channel_count(channel, NIC_DISCARD_DUPLICATE), 0);
	assert_int_equal(channel_count(channel, NIC_AGAIN_SENT), 0);
	channel_stop(channel);
}

static void a_million_frames_survive_1_percent_loss(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.loss_ppm = options.control_loss_ppm = 10000;
	run_load(channel, &options, 1000000);
	assert_true(channel_count(channel, NIC_FRAMES_RETRANSMITTED) > 0);
	channel_stop(channel);
}

static void messages_survive_10_percent_loss(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.hosts = 4;
	options.loss_ppm = options.control_loss_ppm = 100000;
	run_load(channel, &options, 200000);
	channel_stop(channel);
}

static void messages_survive_the_loss_of_every_second_acknowledgement(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.control_loss_ppm = 500000;
	run_load(channel, &options, 200000);
	channel_stop(channel);
}

static void order_survives_paths_of_different_length(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.paths = CHANNEL_PATHS_MAX;
	options.path_delay = 3;
	options.choice = &route_choice_random;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_FRAMES_REORDERED) > 10000);
	assert_int_equal(channel_count(channel, NIC_GO_BACKS), 0); /* late is not lost */
	channel_stop(channel);
}

static void order_survives_frames_that_overtake_each_other(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.spread = 20;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_FRAMES_REORDERED) > 10000);
	channel_stop(channel);
}

static void frames_that_arrive_twice_are_delivered_once(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.duplicate_ppm = 200000;
	options.spread = 5;
	run_load(channel, &options, 200000);
	assert_true(channel_count(channel, NIC_DISCARD_DUPLICATE) > 10000);
	channel_stop(channel);
}

static void damaged_frames_are_asked_for_again(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.damage_ppm = 20000;
	run_load(channel, &options, 200000);
	assert_true(channel->bad_frames > 100);
	assert_true(channel_count(channel, NIC_DISCARD_PAYLOAD_CRC) > 100);
	assert_true(channel_count(channel, NIC_AGAIN_SENT) > 100);
	channel_stop(channel);
}

static void many_hosts_and_vcs_survive_everything_at_once(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

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
	channel_stop(channel);
}

static void frames_routed_by_table_survive_loss(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;

	options.by_table = true;
	options.loss_ppm = 10000;
	run_load(channel, &options, 100000);
	channel_stop(channel);
}

static void the_same_seed_gives_the_same_run(void **state)
{
	struct channel *channel = channel_of(state);
	struct channel_options options = good;
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

#define LOAD_TEST(f) cmocka_unit_test_setup_teardown(f, make, unmake)

static const struct CMUnitTest tests[] = {
	LOAD_TEST(a_good_fabric_needs_no_repetition),
	LOAD_TEST(a_million_frames_survive_1_percent_loss),
	LOAD_TEST(messages_survive_10_percent_loss),
	LOAD_TEST(messages_survive_the_loss_of_every_second_acknowledgement),
	LOAD_TEST(order_survives_paths_of_different_length),
	LOAD_TEST(order_survives_frames_that_overtake_each_other),
	LOAD_TEST(frames_that_arrive_twice_are_delivered_once),
	LOAD_TEST(damaged_frames_are_asked_for_again),
	LOAD_TEST(many_hosts_and_vcs_survive_everything_at_once),
	LOAD_TEST(frames_routed_by_table_survive_loss),
	LOAD_TEST(the_same_seed_gives_the_same_run),
};

UNIT_MAIN(tests)
