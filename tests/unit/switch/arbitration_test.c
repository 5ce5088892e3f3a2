/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The rules of arbitration, with the calls of the real clock. */

#include "switch/arbitration.h"

#include "switch_bench.h"

#define PORTS 6
#define OUT   5

static struct bench *start(enum arbitration_kind inputs, enum vc_service service, unsigned vcs)
{
	struct switch_config config = bench_config(PORTS, vcs);
	struct bench *bench;

	config.arbitration =
		(struct arbitration_config){.inputs = inputs, .vcs = service, .weight = {1, 3}};
	bench = bench_create(&config);
	bench_grant_all(bench);
	return bench;
}

static const struct weft_packet *leave(struct bench *bench)
{
	int left = bench_leave(bench, OUT);

	assert_true(left >= 0);
	return &bench->packet[left];
}

UNIT_TEST(the_oldest_message_goes_first_from_whichever_input)
{
	static const uint32_t injected[] = {700, UINT32_MAX - 5, 300};
	struct bench *bench = start(ARBITRATION_AGE, VC_SERVICE_ROUND_ROBIN, 1);

	bench->now = PS_PER_US;
	for (unsigned input = 0; input < 3; input++)
		bench->packet[bench_send(bench, input, 0, OUT)].injected_ns = injected[input];
	assert_int_equal(leave(bench)->in_port, 1);
	assert_int_equal(leave(bench)->in_port, 2);
	assert_int_equal(leave(bench)->in_port, 0);
	bench_destroy(bench);
}

/* One source is behind input 0, and three are behind input 1. */
UNIT_TEST(an_input_has_a_share_for_each_flow_behind_it)
{
	struct bench *bench = start(ARBITRATION_WEIGHTED, VC_SERVICE_ROUND_ROBIN, 1);
	unsigned from[2] = {0, 0};

	for (unsigned i = 0; i < 60; i++) {
		bench->packet[bench_send(bench, 0, 0, OUT)].source = 40;
		bench->packet[bench_send(bench, 1, 0, OUT)].source = (uint16_t)(41 + i % 3);
	}
	for (unsigned i = 0; i < 48; i++)
		from[leave(bench)->in_port]++;
	assert_in_range(from[0], 11, 14);
	bench_destroy(bench);
}

UNIT_TEST(a_strict_service_serves_the_highest_vc_alone)
{
	struct bench *bench = start(ARBITRATION_ROUND_ROBIN, VC_SERVICE_STRICT, 2);

	for (unsigned i = 0; i < 10; i++) {
		bench_send(bench, 0, 0, OUT);
		bench_send(bench, 1, 1, OUT);
	}
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(leave(bench)->vc, i < 10 ? 1 : 0);
	bench_destroy(bench);
}

UNIT_TEST(a_weighted_service_serves_vcs_by_their_weights)
{
	struct bench *bench = start(ARBITRATION_ROUND_ROBIN, VC_SERVICE_WEIGHTED, 2);
	unsigned of[2] = {0, 0};

	for (unsigned i = 0; i < 40; i++) {
		bench_send(bench, 0, 0, OUT);
		bench_send(bench, 1, 1, OUT);
	}
	for (unsigned i = 0; i < 40; i++)
		of[leave(bench)->vc]++;
	assert_in_range(of[1], 29, 31);
	bench_destroy(bench);
}

UNIT_TEST(inputs_take_turns_within_a_vc)
{
	struct bench *bench = start(ARBITRATION_ROUND_ROBIN, VC_SERVICE_STRICT, 2);

	for (unsigned i = 0; i < 5; i++)
		for (unsigned input = 0; input < 3; input++)
			bench_send(bench, input, 1, OUT);
	for (unsigned i = 0; i < 15; i++)
		assert_int_equal(leave(bench)->in_port, i % 3);
	bench_destroy(bench);
}

UNIT_TEST(flows_are_estimated_from_a_bitmap)
{
	for (unsigned flows = 1; flows <= 128; flows *= 2) {
		uint64_t seen = 0;

		for (unsigned i = 0; i < flows; i++)
			seen |= BIT64(rng_mix(i) & 63);
		assert_in_range(arbitration_flows(seen), (flows * 7 + 9) / 10, flows * 13 / 10 + 1);
	}
}
