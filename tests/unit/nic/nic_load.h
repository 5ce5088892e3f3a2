/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random messages between the interfaces of a channel, and the promise of delivery. */

#include "nic_channel.h"

static const struct channel_options channel_good = {
	.hosts = 2,
	.vcs = 1,
	.paths = 1,
	.delay = 3,
	.mtu_bytes = 128,
	.window_frames = 64,
	.seed = 1,
	.choice = &route_choice_first,
};

static inline uint32_t random_bytes(struct channel *channel, uint32_t min)
{
	/* Mostly one frame, sometimes near the limit of several. */
	if (rng_chance_ppm(&channel->rng, 700000))
		return min + (uint32_t)rng_below(&channel->rng, 100);
	return min + (uint32_t)rng_below(&channel->rng, CHANNEL_BODY_MAX - min);
}

static inline void send_something(struct channel *channel, struct station *station)
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

/* Checks that all sent messages have arrived once, complete and in order, and that all senders
 * know. */
static inline void check_promise(const struct channel *channel)
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
	/* No interface gave up or considered its peer restarted. */
	assert_int_equal(channel_count(channel, NIC_GIVE_UPS), 0);
	assert_int_equal(channel_count(channel, NIC_FLOW_RESTARTS), 0);
	assert_int_equal(channel_count(channel, NIC_FRAMES_ABANDONED), 0);
}

/* 'sends' messages by every interface, and one step. */
static inline void load_step(struct channel *channel, unsigned sends)
{
	for (unsigned i = 0; i < channel->options.hosts; i++)
		for (unsigned j = 0; j < sends; j++)
			send_something(channel, &channel->station[i]);
	channel_step(channel);
	if (channel->step % 512 == 0)
		channel_check(channel);
}

/* Nothing is sent any more, and all arrives. */
static inline void load_end(struct channel *channel)
{
	channel_settle(channel, 2000000);
	channel_check(channel);
	check_promise(channel);
}

/* Sends random messages until that many data frames have been sent in total. */
static inline void run_load(
	struct channel *channel, const struct channel_options *options, uint64_t data_frames)
{
	channel_start(channel, options);
	while (channel->data_frames < data_frames)
		load_step(channel, 4);
	load_end(channel);
}

static inline struct channel *channel_of(void **state)
{
	return *state;
}

static inline int make(void **state)
{
	*state = calloc(1, sizeof(struct channel));
	return *state == NULL;
}

static inline int unmake(void **state)
{
	free(*state);
	return 0;
}
