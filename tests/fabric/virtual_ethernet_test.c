/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Ethernet on the virtual clock: pause frames, drops and their recovery, and DCQCN. */

#include "virtual/virtual_pause.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

/* Seven hosts send to one host, and the others to all. */
static const char tree[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=8,stages=2\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 500ns}\n"
	"switch: {buffer: 128KiB, mtu: 4KiB, flow-control: pfc}\n"
	"nic: {mtu: 4KiB, retry: 20us}\n"
	"routing: {algorithm: dmodk, mode: table}\n"
	"watchdog: off\n"
	"measure: {duration: 200us, sample: 100us, links: true}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [h1, h2, h7, h9, h12, h15, h20], to: [h0], load: 60%, "
	"message: 16KiB}\n"
	"  - {pattern: uniform, from: rest, load: 30%, message: 16KiB, arrivals: poisson}\n";

/* Three hosts along a chain of switches send to the host at its end (a parking lot). */
static const char lot[] =
	"weft: run/1\n"
	"topology: {switches: [{name: s0, ports: 2}, {name: s1, ports: 3}, {name: s2, ports: 3}], "
	"hosts: [{name: a}, {name: b}, {name: c}, {name: d}], links: [{a: s0:0, b: a:0}, "
	"{a: s1:0, b: b:0}, {a: s2:0, b: c:0}, {a: s2:2, b: d:0}, {a: s0:1, b: s1:1}, "
	"{a: s1:2, b: s2:1}]}\n"
	"clock: virtual\n"
	"link: {rate: 40Gbps, delay: 500ns}\n"
	"switch: {buffer: 256KiB, mtu: 1KiB, flow-control: pfc, "
	"ecn: {kmin: 5KiB, kmax: 200KiB, pmax: 10%}}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: ud, mode: table}\n"
	"watchdog: off\n"
	"measure: {warmup: 10ms, duration: 30ms, sample: 10ms}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [a], to: [d], load: 100%, message: 1KiB}\n"
	"  - {pattern: hotspot, from: [b], to: [d], load: 100%, message: 1KiB}\n"
	"  - {pattern: hotspot, from: [c], to: [d], load: 100%, message: 1KiB}\n";

static void assert_nothing_lost(const struct run_result *result)
{
	assert_int_equal(result->lost, 0);
	assert_int_equal(result->duplicated, 0);
	assert_int_equal(result->out_of_order, 0);
	assert_false(result->deadlock);
}

/* Returns Jain's fairness index of the accepted traffic of all traffic entries. */
static double fairness(const struct run_result *result, uint32_t entries)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < entries; i++) {
		sum += result->entry[i].accepted;
		squares += result->entry[i].accepted * result->entry[i].accepted;
	}
	return sum * sum / (entries * squares);
}

UNIT_TEST(the_headroom_holds_all_that_arrives_after_a_pause)
{
	static const char *const delays[] = {
		"link.delay=10ns", "link.delay=500ns", "link.delay=2us"};

	for (unsigned i = 0; i < 3; i++) {
		struct run_result result = virtual_lab_result(tree, VIRTUAL_LAB_SET(delays[i]));

		assert_nothing_lost(&result);
		assert_true(run_result_counter(&result, "pause_frames") > 0);
		assert_int_equal(run_result_counter(&result, "discard_full"), 0);
		run_result_free(&result);
	}
}

UNIT_TEST(without_headroom_frames_are_dropped)
{
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, tree, VIRTUAL_LAB_SET("link.delay=2us"));
	for (uint32_t at = 0; at < lab.fabric->switches; at++)
		for (unsigned port = 0; port < lab.fabric->sw[at]->ports; port++)
			lab.fabric->pauses[&lab.fabric->first[at][port] - lab.fabric->channel]
				.xoff_blocks = 128 * 1024 / FRAME_BLOCK_BYTES - 66;
	virtual_lab_run(&lab);
	assert_true(run_result_counter(&lab.result, "discard_full") > 0);
}

UNIT_TEST(a_buffer_below_the_headroom_is_refused)
{
	virtual_lab_assert_refused(tree, VIRTUAL_LAB_SET("switch.buffer=16KiB"),
		"test: switch.buffer: pfc on the link from h0 to s0 needs 21120B of headroom "
		"per VC; use a buffer of at least 29568B, or a different switch.pfc.xoff");
}

/* A frame that waits for a pause frame arrives later by the pause frame's time on the link. */
UNIT_TEST(a_pause_frame_takes_its_time_on_the_link)
{
	struct virtual_credit total[FRAME_VCS_MAX];
	OWNED(virtual_lab) lab;
	struct virtual_tx *channel;

	virtual_lab_open(&lab, tree, VIRTUAL_LAB_SET("traffic[0].load=1%", "traffic[1].load=1%"));
	channel = &lab.fabric->first[0][0];
	lab.fabric->sw[0]->port[0].link.rx[0].received += 4000;
	assert_int_equal(virtual_pause_due(lab.fabric, &lab.fabric->sw[0]->port[0].link, channel,
				 total, 1000),
		1000 + bytes_ps(VIRTUAL_PAUSE_BYTES, channel->byte_time));
	assert_int_equal(virtual_pause_wait(lab.fabric, channel, 1000),
		bytes_ps(VIRTUAL_PAUSE_BYTES, channel->byte_time));
	lab.fabric->sw[0]->port[0].link.rx[0].received -= 4000;
}

UNIT_TEST(pauses_spread_and_count_as_blocked)
{
	OWNED(run_result) result = virtual_lab_result(tree, NULL, 0);
	double blocked = 0;

	for (uint32_t i = 0; i < result.links; i++)
		blocked += result.link[i].blocked;
	assert_true(blocked > 1);
}

UNIT_TEST(pauses_in_a_circle_are_found_as_a_deadlock)
{
	OWNED(run_result) result = virtual_lab_result(
		"weft: run/1\n"
		"topology: \"ring:switches=6,hosts=2\"\n"
		"clock: virtual\n"
		"watchdog: off\n"
		"link: {rate: 10Gbps}\n"
		"switch: {buffer: 16KiB, mtu: 1KiB, flow-control: pfc}\n"
		"nic: {mtu: 1KiB}\n"
		"routing: {algorithm: minhop, mode: table, may-deadlock: true}\n"
		"traffic: [{pattern: uniform, from: all, load: 100%, message: 1KiB}]\n"
		"measure: {duration: 2ms, sample: 200us}\n",
		NULL, 0);

	assert_true(result.deadlock);
	assert_int_equal(result.channels, 6);
}

UNIT_TEST(dropped_frames_are_sent_again_until_they_arrive)
{
	static const char *const recoveries[] = {
		"nic.recovery=selective-repeat", "nic.recovery=go-back-n"};
	uint64_t resent[2];

	for (unsigned i = 0; i < 2; i++) {
		struct run_result result = virtual_lab_result(
			tree, VIRTUAL_LAB_SET("switch.flow-control=lossy", recoveries[i],
				      "traffic[0].stop=50us", "traffic[1].stop=50us",
				      "measure.duration=20ms"));

		assert_nothing_lost(&result);
		assert_true(run_result_counter(&result, "discard_full") > 0);
		assert_int_equal(result.messages.pending, 0);
		resent[i] = run_result_counter(&result, "host_frames_retransmitted");
		run_result_free(&result);
	}
	assert_true(resent[1] > resent[0]);
}

UNIT_TEST(pauses_alone_halve_the_share_at_each_merge_of_a_parking_lot)
{
	OWNED(run_result) result = virtual_lab_result(lot, NULL, 0);

	assert_in_range(1000 * result.entry[0].accepted, 245, 255);
	assert_in_range(1000 * result.entry[2].accepted, 495, 505);
}

UNIT_TEST(dcqcn_shares_a_parking_lot_fairly)
{
	OWNED(run_result) result = virtual_lab_result(lot, VIRTUAL_LAB_SET("nic.control=dcqcn"));

	assert_true(fairness(&result, 3) > 0.99);
	assert_true(result.accepted > 0.9 / 4);
}

/* Queues stay near the marking thresholds, and only the first pauses are sent. */
UNIT_TEST(dcqcn_keeps_an_incast_short_of_pauses)
{
	static const char *const controls[] = {"nic.control=none", "nic.control=dcqcn"};
	uint64_t pauses[2];

	for (unsigned i = 0; i < 2; i++) {
		struct run_result result = virtual_lab_result(tree,
			VIRTUAL_LAB_SET("measure.duration=4ms", "switch.buffer=512KiB",
				"switch.ecn={kmin: 20KiB, kmax: 100KiB, pmax: 20%}", controls[i]));

		pauses[i] = run_result_counter(&result, "pause_frames");
		run_result_free(&result);
	}
	assert_true(pauses[1] * 10 < pauses[0]);
}

UNIT_TEST(any_number_of_workers_gives_the_same_bytes)
{
	static const char *const cases[][4] = {
		{"switch.flow-control=pfc", "switch.vcs=2", "queuing=dbbm", "seed=2"},
		{"switch.flow-control=lossy", "nic.recovery=go-back-n", "nic.retry=20us",
			"nic.control=dcqcn"},
		{"switch.flow-control=pfc", "nic.control=dcqcn", "nic.recovery=selective-repeat",
			"seed=4"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drawn drawn = {.sets = 7,
			.set = {cases[i][0], cases[i][1], cases[i][2], cases[i][3],
				"traffic[0].load=95%", "switch.buffer=64KiB",
				"switch.ecn={kmin: 8KiB, kmax: 20KiB, pmax: 50%}"}};

		drawn_expect_workers(&drawn, i, NULL, drawn_workers);
	}
}
