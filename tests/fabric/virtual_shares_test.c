/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Shares of full links: arbitration, traffic classes, and load balancing by flows and packets. */

#include <unistd.h>

#include "virtual_drawn.h"
#include "virtual_lab.h"

/* Three hosts along a chain of switches send to the host at its end. */
static const char lot[] =
	"weft: run/1\n"
	"topology: {switches: [{name: s0, ports: 2}, {name: s1, ports: 3}, {name: s2, ports: 3}], "
	"hosts: [{name: a}, {name: b}, {name: c}, {name: d}], links: [{a: s0:0, b: a:0}, "
	"{a: s1:0, b: b:0}, {a: s2:0, b: c:0}, {a: s2:2, b: d:0}, {a: s0:1, b: s1:1}, "
	"{a: s1:2, b: s2:1}]}\n"
	"clock: virtual\n"
	"link: {rate: 40Gbps, delay: 30ns}\n"
	"switch: {buffer: 64KiB, mtu: 1KiB}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: ud, mode: table}\n"
	"watchdog: off\n"
	"measure: {warmup: 1ms, duration: 3ms, sample: 1ms}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [a], to: [d], load: 50%, message: 1KiB}\n"
	"  - {pattern: hotspot, from: [b], to: [d], load: 50%, message: 1KiB}\n"
	"  - {pattern: hotspot, from: [c], to: [d], load: 50%, message: 1KiB}\n";

static const char clos[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=8,stages=3\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 100ns}\n"
	"switch: {buffer: 128KiB, mtu: 4KiB, ecn: {kmin: 16KiB, kmax: 48KiB, pmax: 20%}}\n"
	"nic: {mtu: 4KiB}\n"
	"routing: {algorithm: dmodk, mode: table}\n"
	"watchdog: off\n"
	"traffic: [{pattern: permutation, load: 90%, message: 64KiB, arrivals: poisson}]\n"
	"measure: {warmup: 50us, duration: 200us, sample: 50us}\n";

/* In thousandths of the link. */
static void shares(unsigned share[3], const char *const *set, unsigned sets)
{
	OWNED(run_result) result = virtual_lab_result(lot, set, sets);

	for (unsigned i = 0; i < 3; i++)
		share[i] = (unsigned)(1000 * result.entry[i].accepted + 0.5);
	assert_int_equal(result.lost, 0);
}

UNIT_TEST(round_robin_halves_the_share_at_each_merge)
{
	unsigned share[3];

	shares(share, NULL, 0);
	assert_in_range(share[0], 245, 255);
	assert_in_range(share[2], 490, 510);
}

UNIT_TEST(age_and_weights_share_the_end_of_a_chain_equally)
{
	static const char *const rules[] = {
		"switch.arbitration=age", "switch.arbitration=weighted"};
	unsigned share[3];

	for (unsigned i = 0; i < 2; i++) {
		shares(share, &rules[i], 1);
		for (unsigned k = 0; k < 3; k++)
			assert_in_range(share[k], 320, 346);
	}
}

UNIT_TEST(a_strict_class_has_all_that_it_sends)
{
	unsigned share[3];

	shares(share,
		VIRTUAL_LAB_SET("switch.vcs=2", "switch.vc-service=strict", "traffic[0].class=1"));
	assert_in_range(share[0], 490, 505);
	assert_in_range(share[1], 240, 260);
}

UNIT_TEST(classes_share_by_weight)
{
	unsigned share[3];

	shares(share, VIRTUAL_LAB_SET("switch.vcs=2", "switch.vc-service=weighted",
			      "switch.vc-weights=[2, 1]", "switch.sl-to-vc=[0, 0, 0, 1]",
			      "traffic[0].class=3", "traffic[1].load=1%"));
	assert_in_range(share[0], 475, 505);
	shares(share, VIRTUAL_LAB_SET("switch.vcs=2", "switch.vc-service=weighted",
			      "switch.vc-weights=[3, 1]", "traffic[0].class=1"));
	assert_in_range(share[0], 240, 260);
}

/* One host at each of eight switches in a row sends to the end. BookSim 2 has the same shares with
 * priority=none and with age (mesh, k = 8, n = 1, hotspot({7}), a rate of 0.3): 0.250, 0.125,
 * 0.0626, 0.0312, 0.0158, 0.0078, 0.0038 and 0.0040 of 0.5, and 0.057 to 0.066. */
static void shares_in_a_row(const char *arbitration, unsigned share[8])
{
	OWNED(run_result) result = {0};
	char text[2048];
	size_t used =
		(size_t)snprintf(text, sizeof(text), "%.*s", (int)(strstr(lot, "  - ") - lot), lot);

	for (unsigned i = 0; i < 8; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"  - {pattern: hotspot, from: [h%u], to: [h15], load: 60%%, message: 1KiB}\n",
			2 * i);
	result = virtual_lab_result(
		text, VIRTUAL_LAB_SET("topology=mesh:dims=8,hosts=2", "measure.duration=20ms",
			      "measure.warmup=5ms", "measure.sample=5ms", arbitration));
	for (unsigned i = 0; i < 8; i++)
		share[i] = (unsigned)(100000 * result.entry[i].accepted + 0.5);
}

UNIT_TEST(a_parking_lot_of_eight_switches_has_the_shares_of_booksim)
{
	unsigned share[8];

	shares_in_a_row("switch.arbitration=round-robin", share);
	for (unsigned i = 0; i < 8; i++)
		assert_in_range(share[i], 95 * 1000 >> (i == 0 ? 7 : 8 - i),
			105 * 1000 >> (i == 0 ? 7 : 8 - i));
	shares_in_a_row("switch.arbitration=age", share);
	for (unsigned i = 0; i < 8; i++)
		assert_in_range(share[i], 90 * 1000 >> 3, 110 * 1000 >> 3);
}

/* The chain of merges through all groups of a Dragonfly with 72 hosts (bmin-itb). */
UNIT_TEST(age_and_weights_keep_a_chain_of_18_merges_alive)
{
	static const char *const rules[] = {"switch.arbitration=round-robin",
		"switch.arbitration=age", "switch.arbitration=weighted"};
	char path[] = "/tmp/weft-shift-XXXXXX", text[1024];
	double accepted[3];
	FILE *out;
	int file = mkstemp(path);

	assert_true(file >= 0);
	out = fdopen(file, "w");
	for (unsigned i = 0; i < 72; i++)
		fprintf(out, "h%u h%u\n", i, (i + 8) % 72);
	fclose(out);
	snprintf(text, sizeof(text),
		"weft: run/1\n"
		"topology: \"dragonfly:a=4,p=2,h=2\"\n"
		"clock: virtual\n"
		"link: {rate: 100Gbps, delay: 30ns}\n"
		"switch: {buffer: 64KiB, mtu: 2KiB}\n"
		"nic: {mtu: 2KiB}\n"
		"routing: {algorithm: bmin-itb}\n"
		"watchdog: off\n"
		"traffic: [{pattern: permutation, file: %s, load: 30%%, message: 2KiB, "
		"arrivals: poisson}]\n"
		"measure: {duration: 1ms, sample: 200us, warmup: 300us}\n",
		path);
	for (unsigned i = 0; i < 3; i++) {
		struct run_result result = virtual_lab_result(text, &rules[i], 1);

		accepted[i] = result.accepted;
		run_result_free(&result);
	}
	unlink(path);
	assert_true(accepted[1] > 4 * accepted[0]);
	assert_true(accepted[2] > 4 * accepted[0]);
}

/* --- load balancing --- */

UNIT_TEST(every_mode_delivers_in_order)
{
	static const char *const modes[] = {"routing.adaptive=ecmp",
		"routing.adaptive=spray-random", "routing.adaptive=spray-rr",
		"routing.adaptive=flowlet", "routing.adaptive=reps"};

	for (unsigned i = 0; i < 5; i++) {
		struct run_result result = virtual_lab_result(clos,
			VIRTUAL_LAB_SET(modes[i], "switch.flow-control=pfc", "nic.control=dcqcn"));

		assert_int_equal(result.lost, 0);
		assert_int_equal(result.duplicated, 0);
		assert_int_equal(result.out_of_order, 0);
		assert_true(result.messages.delivered > 0);
		run_result_free(&result);
	}
}

UNIT_TEST(ecmp_keeps_the_frames_of_a_pair_on_one_path)
{
	OWNED(run_result) result =
		virtual_lab_result(clos, VIRTUAL_LAB_SET("routing.adaptive=ecmp"));

	assert_int_equal(run_result_counter(&result, "host_frames_overtaken"), 0);
}

UNIT_TEST(sprays_and_recycled_entropies_carry_more_than_one_path)
{
	static const char *const modes[] = {"routing.adaptive=ecmp",
		"routing.adaptive=spray-random", "routing.adaptive=spray-rr",
		"routing.adaptive=reps"};
	double accepted[4];
	uint64_t held[4];

	for (unsigned i = 0; i < 4; i++) {
		struct run_result result = virtual_lab_result(clos, &modes[i], 1);

		accepted[i] = result.accepted;
		held[i] = run_result_counter(&result, "host_frames_held_peak");
		run_result_free(&result);
	}
	for (unsigned i = 1; i < 4; i++) {
		assert_true(accepted[i] > 1.4 * accepted[0]);
		assert_true(held[i] > 0);
	}
}

UNIT_TEST(flowlets_change_paths_only_after_a_pause)
{
	OWNED(run_result) none = virtual_lab_result(
		clos, VIRTUAL_LAB_SET("routing.adaptive=flowlet", "routing.flowlet-gap=1s"));
	OWNED(run_result) each = virtual_lab_result(
		clos, VIRTUAL_LAB_SET("routing.adaptive=flowlet", "routing.flowlet-gap=0ns"));

	assert_true(run_result_counter(&none, "host_frames_overtaken") * 20 <
		    run_result_counter(&each, "host_frames_overtaken"));
}

UNIT_TEST(any_number_of_workers_gives_the_same_bytes)
{
	static const char *const cases[][3] = {
		{"routing.adaptive=reps", "nic.control=dcqcn", "switch.flow-control=pfc"},
		{"routing.adaptive=flowlet", "switch.arbitration=age", "routing.flowlet-gap=1us"},
		{"routing.adaptive=spray-rr", "switch.arbitration=weighted",
			"switch.flow-control=lossy"},
		{"switch.vc-service=weighted", "traffic[0].class=1", "switch.arbitration=weighted"},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drawn drawn = {.sets = 6,
			.set = {cases[i][0], cases[i][1], cases[i][2], "traffic[0].load=95%",
				"switch.vcs=2", "switch.ecn={kmin: 8KiB, kmax: 20KiB, pmax: 50%}"}};

		drawn_expect_workers(&drawn, i, NULL, drawn_workers);
	}
}
