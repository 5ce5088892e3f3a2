/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Frames that in-transit buffers discard on the virtual clock are resent, once and in order. */

#include "frames_once.h"
#include "virtual/virtual_dispatch.h"
#include "virtual/virtual_measure.h"
#include "virtual_lab.h"

/* All hosts send at full rate for a while, and frames in flight have time to arrive. */
static const char burst[] = "weft: run/1\n"
			    "topology: \"irregular:switches=8,degree=4,hosts=2,seed=1\"\n"
			    "clock: virtual\n"
			    "link: {rate: 100Gbps, delay: 30ns}\n"
			    "switch: {buffer: 8KiB, mtu: 1KiB}\n"
			    "nic: {mtu: 1KiB, itb: {pool: 8KiB}}\n"
			    "watchdog: off\n"
			    "routing: {algorithm: bmax-itb}\n"
			    "measure: {duration: 20ms, sample: 20ms}\n"
			    "traffic:\n"
			    "  - {pattern: uniform, load: 100%, message: 1KiB, stop: 60us}\n";

#define RUN(...) virtual_lab_ran(burst, VIRTUAL_LAB_SET(__VA_ARGS__))

static void expect_all_recovered(const struct virtual_lab *lab)
{
	const struct run_result *result = &lab->result;

	expect_each_frame_once(lab->fabric);
	assert_int_equal(result->packets.delivered, result->packets.injected);
	assert_int_equal(result->messages.delivered, result->messages.generated);
	assert_int_equal(result->packets.pending, 0);
	assert_int_equal(result->packets.dropped, result->packets.retransmitted);
	assert_int_equal(result->lost | result->duplicated | result->out_of_order, 0);
	assert_false(result->deadlock);
	for (uint32_t i = 0; i < lab->fabric->hosts; i++)
		assert_int_equal(lab->fabric->host[i].nic.out_of_order, 0);
	assert_int_equal(virtual_recovery_held(lab->fabric) + virtual_order_held(lab->fabric), 0);
}

/* Networks, positions of ITBs, lengths, pools, VCs and the number of routes are drawn. */
UNIT_TEST(what_a_tiny_pool_discards_comes_again_once_and_in_order)
{
	static const char *const topology[] = {
		"topology=irregular:switches=8,degree=4,hosts=2,seed=2",
		"topology=torus:dims=4x4,hosts=1", "topology=ring:switches=9,hosts=2"};
	static const char *const algorithm[] = {"routing.algorithm=ud-itb",
		"routing.algorithm=bmin-itb", "routing.algorithm=bmax-itb",
		"routing={algorithm: ud-mitb+bmax-itb}"};
	static const char *const length[] = {
		"traffic[0].message=64B", "traffic[0].message=1KiB", "traffic[0].message=5000B"};
	uint64_t discarded = 0, reordered = 0;

	for (unsigned i = 0; i < 36; i++) {
		char seed[32];
		OWNED(virtual_lab) lab;

		snprintf(seed, sizeof(seed), "seed=%u", i + 1);
		lab = RUN(topology[i % 3], algorithm[i % 4], length[i / 3 % 3], seed,
			i % 2 == 0 ? "switch.vcs=1" : "switch.voq=false",
			i % 3 == 1 ? "nic.itb.pool=2KiB" : "nic.itb.pool=8KiB",
			i % 4 == 3 ? "nic.selector=random" : "nic.selector=first");
		expect_all_recovered(&lab);
		discarded += result_counter(&lab.result, "host_itb_discarded");
		reordered += result_counter(&lab.result, "host_frames_reordered");
	}
	assert_true(discarded > 10000);
	assert_true(reordered > 1000);
}

/* Re-injection overtakes reception, so the destination refuses the last frame. */
UNIT_TEST(a_message_without_its_end_mark_is_completed)
{
	OWNED(virtual_lab) lab = RUN("traffic[0].message=5000B", "nic.itb.pause=1us",
		"nic.itb.pool=64MiB", "link.rate=10Gbps");

	assert_true(result_counter(&lab.result, "host_discard_end_mark") > 10);
	assert_int_equal(result_counter(&lab.result, "host_itb_discarded"), 0);
	expect_all_recovered(&lab);
}

UNIT_TEST(everything_is_accounted_for_in_the_midst_of_it)
{
	OWNED(virtual_lab) lab = RUN("measure={duration: 50us, sample: 50us}");

	assert_true(virtual_recovery_held(lab.fabric) + virtual_order_held(lab.fabric) > 0);
	assert_true(lab.result.packets.pending > 0);
	assert_int_equal(lab.result.packets.injected,
		lab.result.packets.delivered + lab.result.packets.pending);
	assert_int_equal(lab.result.lost | lab.result.duplicated | lab.result.out_of_order, 0);
}

/* There is space for only a few frames. Hosts may send nothing new, and each sends only its oldest
 * frames. Frames in transit continue. */
UNIT_TEST(who_may_send_nothing_new_holds_no_transit_up)
{
	for (unsigned extra = 20; extra <= 80; extra += 20) {
		OWNED(virtual_lab) lab;

		virtual_lab_open(&lab, burst, VIRTUAL_LAB_SET("nic.itb.pool=64KiB"));
		lab.fabric->pool.size = lab.fabric->hosts + extra;
		virtual_lab_run(&lab);
		assert_int_equal(lab.fabric->pool.used, extra); /* it was full */
		assert_true(result_counter(&lab.result, "host_itb_absorbed") > 1000);
		expect_all_recovered(&lab);
	}
}

UNIT_TEST(where_no_route_has_an_in_transit_buffer_nothing_is_kept)
{
	OWNED(virtual_lab) lab = RUN("routing.algorithm=ud");

	for (uint32_t i = 0; i < lab.fabric->hosts; i++)
		assert_null(lab.fabric->host[i].nic.recovery);
	assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
}

UNIT_TEST(the_same_seed_gives_the_same_result_to_the_last_bit)
{
	OWNED(virtual_lab) first = RUN("seed=3"), second = RUN("seed=3"), other = RUN("seed=4");

	assert_int_equal(first.result.fingerprint, second.result.fingerprint);
	assert_int_not_equal(first.result.fingerprint, other.result.fingerprint);
}
