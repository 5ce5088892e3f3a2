/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Credit and data frames are lost on every link. Throughput may fall, but no buffer overflows, no
 * sender exceeds its credits, and nothing is duplicated or reordered. When the losses end, all
 * credits are back after the next refresh. */

#include "fabric_networks.h"

#define PERCENT      10000u /* ppm */
#define WINDOW_STEPS 4000u

/* Buffers of four packets need few grants, so every lost grant matters. */
static struct fabric_config tight_config(uint64_t seed)
{
	struct fabric_config config = fabric_config_default(seed);

	config.buffer_blocks = 2 * 4 * config.packet_blocks;
	return config;
}

/* Returns the packets delivered in one window with these losses. All invariants hold throughout. */
static uint64_t deliver(struct fabric *fabric, uint32_t credit_loss_ppm, uint32_t data_loss_ppm)
{
	uint64_t before = fabric->delivered;

	fabric->credit_loss_ppm = credit_loss_ppm;
	fabric->data_loss_ppm = data_loss_ppm;
	fabric_run(fabric, WINDOW_STEPS, 97);
	fabric->credit_loss_ppm = fabric->data_loss_ppm = 0;
	return fabric->delivered - before;
}

/* After the losses, everything is as before from the next refresh on. finish() asserts that every
 * block of credit is back. Throughput returns to its normal range: without losses, ten windows of
 * this saturated network delivered 280,336 to 285,846 packets. */
static void expect_recovery(struct fabric *fabric, uint64_t healthy)
{
	uint64_t after;

	fabric_run(fabric, fabric->config.refresh_ps / FABRIC_STEP_PS + 20, 97);
	after = deliver(fabric, 0, 0);
	if (after * 100 < healthy * 95)
		fail_msg("%llu packets in a window where it was %llu", (unsigned long long)after,
			(unsigned long long)healthy);
}

/* At the end, the only missing frames are those that the wires lost. */
static void finish(struct fabric *fabric)
{
	fabric_drain(fabric);
	fabric_check(fabric);
	fabric_check_drained(fabric);
	assert_int_equal(fabric->discarded, 0);
	fabric_destroy(fabric);
}

static uint64_t lost_credits(const struct fabric *fabric)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < fabric->ends; i++)
		lost += fabric->wire[i].lost_credits;
	return lost;
}

static void lose_credits(uint32_t ppm)
{
	const struct fabric_config config = tight_config(1);
	OWNED(topology) *topology = network_fat_tree(2, 3);
	struct fabric *fabric = fabric_create(topology, &config);
	uint64_t healthy, ill;

	deliver(fabric, 0, 0);
	healthy = deliver(fabric, 0, 0);
	ill = deliver(fabric, ppm, 0);
	assert_true(lost_credits(fabric) > 1000);
	assert_true(ill < healthy);
	assert_true(ill > healthy / 4);
	expect_recovery(fabric, healthy);
	assert_int_equal(fabric->lost, 0);
	finish(fabric);
}

UNIT_TEST(one_percent_of_the_credit_frames_lost_costs_throughput_and_nothing_else)
{
	lose_credits(1 * PERCENT);
}

UNIT_TEST(ten_percent_of_the_credit_frames_lost_costs_throughput_and_nothing_else)
{
	lose_credits(10 * PERCENT);
}

static void lose_data(uint32_t credit_ppm, uint32_t data_ppm)
{
	const struct fabric_config config = tight_config(2);
	OWNED(topology) *topology = network_fat_tree(2, 3);
	struct fabric *fabric = fabric_create(topology, &config);
	uint64_t healthy;

	deliver(fabric, 0, 0);
	healthy = deliver(fabric, 0, 0);
	deliver(fabric, credit_ppm, data_ppm);
	assert_true(fabric->lost > 1000);
	expect_recovery(fabric, healthy);
	finish(fabric);
}

UNIT_TEST(one_percent_of_the_data_lost_takes_no_credits_with_it)
{
	lose_data(0, 1 * PERCENT);
}

UNIT_TEST(ten_percent_of_the_data_lost_takes_no_credits_with_it)
{
	lose_data(0, 10 * PERCENT);
}

UNIT_TEST(losses_of_both_kinds_heal_together)
{
	lose_data(10 * PERCENT, 10 * PERCENT);
}

UNIT_TEST(without_any_credit_frame_the_network_stands_and_then_goes_on)
{
	const struct fabric_config config = tight_config(3);
	OWNED(topology) *topology = network_fat_tree(2, 3);
	struct fabric *fabric = fabric_create(topology, &config);
	uint64_t healthy, stands;

	deliver(fabric, 0, 0);
	healthy = deliver(fabric, 0, 0);
	deliver(fabric, 100 * PERCENT, 0);
	stands = deliver(fabric, 100 * PERCENT, 0);
	assert_int_equal(stands, 0);
	expect_recovery(fabric, healthy);
	assert_int_equal(fabric->lost, 0);
	finish(fabric);
}

UNIT_TEST(random_networks_survive_random_losses)
{
	for (uint64_t seed = 1; seed <= 30; seed++) {
		OWNED(topology) *topology;
		struct fabric_config config;
		struct fabric *fabric;
		struct rng rng;

		rng_init(&rng, seed, 0, 1);
		topology = fabric_random_topology(&rng);
		config = fabric_random_config(&rng, seed, topology->hosts);
		fabric = fabric_create(topology, &config);
		fabric->credit_loss_ppm = (uint32_t)rng_below(&rng, 20 * PERCENT);
		fabric->data_loss_ppm = (uint32_t)rng_below(&rng, 20 * PERCENT);
		fabric_run_packets(fabric, 20000, 53);
		fabric->credit_loss_ppm = fabric->data_loss_ppm = 0;
		finish(fabric);
	}
}
