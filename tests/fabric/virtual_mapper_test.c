/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Mappers on the virtual clock find routes that avoid cut cables, while traffic flows. */

#include <errno.h>

#include "experiment/result/run_result_jobs.h"
#include "frames_once.h"
#include "virtual/virtual_links.h"
#include "virtual/virtual_reroute.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

#define MAPPER(more)                                                                      \
	"mapper={after: mapper, listen: 1ms, gather: 100us, heartbeat: 1ms, lease: 3ms, " \
	"takeover: 4ms, retry: 1ms, sweep: 5ms, drain: 2ms" more "}"

/* Traffic ends long before the run, so that lost frames can be resent. */
static const char burst[] = "weft: run/1\n"
			    "topology: \"rlft:ports=4,stages=3\"\n"
			    "clock: virtual\n"
			    "hello: 100us\n"
			    "link: {rate: 10Gbps, delay: 100ns}\n"
			    "switch: {buffer: 16KiB, mtu: 2KiB}\n"
			    "nic: {mtu: 2KiB, retry: 100us}\n"
			    "routing: {algorithm: ud, mode: table}\n"
			    "measure: {duration: 40ms, sample: 100us}\n"
			    "traffic:\n"
			    "  - {pattern: uniform, load: 30%, message: 2KiB, stop: 10ms}\n";

#define CUT      "events=[{at: 1ms, link: 's0:2', down: forever}]"
#define RUN(...) virtual_lab_ran(burst, VIRTUAL_LAB_SET(__VA_ARGS__))

/* Found after three hellos and the time for gathering reports, before traffic ends. */
static void expect_healed(const struct virtual_lab *lab)
{
	const struct run_result_event *event = &lab->result.event[0];

	assert_true(event->detect_ps <= 300 * PS_PER_US);
	assert_true(event->reroute_ps > event->detect_ps + 100 * PS_PER_US);
	assert_true(event->reroute_ps < 9 * PS_PER_MS);
	assert_int_equal(lab->result.packets.delivered, lab->result.packets.injected);
	assert_int_equal(lab->result.lost | lab->result.duplicated | lab->result.out_of_order, 0);
	assert_int_equal(result_counter(&lab->result, "host_messages_unreachable"), 0);
	expect_each_frame_once(lab->fabric);
}

UNIT_TEST(a_mapper_finds_tables_without_a_cut_cable_and_all_frames_arrive)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), CUT);

	expect_healed(&lab);
	assert_true(lab.result.event[0].lost > 0);
	assert_int_equal(lab.result.warnings, 0);
}

UNIT_TEST(a_mapper_finds_source_routes_without_a_cut_cable)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), CUT, "routing.mode=source");

	expect_healed(&lab);
}

UNIT_TEST(switches_use_the_vc_classes_of_mapped_tables)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), CUT, "topology=torus:dims=4x4,hosts=1",
		"switch.vcs=2", "routing={algorithm: dfsssp}");

	expect_healed(&lab);
	assert_non_null(lab.fabric->sw[0]->vc_rule);
}

/* With new tables, the lengths belong to other paths. */
UNIT_TEST(switches_forget_the_lengths_of_paths_with_their_first_tables)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), CUT, "topology=torus:dims=4x4,hosts=1",
		"switch.vcs=4", "routing={algorithm: ugal}");

	expect_healed(&lab);
	assert_non_null(lab.fabric->routes.lengths);
	for (uint32_t i = 0; i < lab.fabric->switches; i++)
		assert_null(lab.fabric->sw[i]->detour.config.lengths);
}

/* The routes of a ring and of its remainder are acyclic, but form a cycle together. */
UNIT_TEST(routes_that_could_deadlock_together_follow_each_other_after_a_pause)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), "topology=ring:switches=6,hosts=1",
		"routing={algorithm: ud, mode: source}",
		"events=[{at: 1ms, link: 's0:1', down: forever}]");

	expect_healed(&lab);
	assert_int_equal(result_counter(&lab.result, "mapper_changes_paused"), 1);
}

UNIT_TEST(a_cut_that_ends_before_its_ends_notice_it_changes_no_routes)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), "events=[{at: 1ms, link: 's0:2', down: 100us}]");

	assert_int_equal(lab.result.event[0].reroute_ps, WEFT_TIME_NEVER);
	assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
}

UNIT_TEST(another_mapper_leads_when_the_first_is_cut_off)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(", mode: always, hosts: [h0]"),
		"events=[{at: 1ms, host: h0, down: 30ms}, {at: 2ms, link: 's2:2', down: forever}]",
		"nic.give-up=1s");
	const struct run_result *result = &lab.result;

	assert_true(result->event[1].reroute_ps > 4 * PS_PER_MS);
	assert_true(result->event[1].reroute_ps < 30 * PS_PER_MS);
	assert_int_equal(result->packets.delivered, result->packets.injected);
}

/* Planes of equal size: none has more than half of the devices. */
UNIT_TEST(each_plane_has_a_mapper_that_heals_it)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), "topology=rail:rails=2,ports=4,stages=2",
		"events=[{at: 1ms, link: 'r0-s0:2', down: forever}, "
		"{at: 1ms, link: 'r1-s1:2', down: forever}]");

	expect_healed(&lab);
	assert_in_range(lab.result.event[1].reroute_ps, 300 * PS_PER_US, 9 * PS_PER_MS);
	assert_int_equal(lab.result.warnings, 0);
}

/* A line of two switches is cut in the middle. Then each half loses a host. */
UNIT_TEST(each_half_of_a_fabric_that_is_cut_in_two_has_a_mapper)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), "topology=mesh:dims=2x1,hosts=4",
		"events=[{at: 1ms, link: 's0:0', down: forever}, "
		"{at: 30ms, host: h1, down: forever}, {at: 30ms, host: h5, down: forever}]");
	const struct run_result *result = &lab.result;

	assert_in_range(result->event[0].reroute_ps, 4 * PS_PER_MS, 28 * PS_PER_MS);
	for (unsigned i = 1; i < 3; i++)
		assert_in_range(result->event[i].reroute_ps, 300 * PS_PER_US, PS_PER_MS);
	assert_int_equal(result->warnings, 0);
}

UNIT_TEST(a_half_without_a_host_that_may_be_the_mapper_is_named)
{
	OWNED(virtual_lab) lab =
		RUN(MAPPER(", mode: auto, hosts: [h0]"), "topology=mesh:dims=2x1,hosts=4",
			"events=[{at: 1ms, link: 's0:0', down: forever}]");

	assert_int_equal(lab.result.event[0].reroute_ps, WEFT_TIME_NEVER);
	assert_int_equal(lab.result.warnings, 1);
	assert_string_equal(
		lab.result.warning[0].text, "devices without a mapper at the end: 5, such as s1");
}

UNIT_TEST(a_run_whose_switches_refuse_tables_is_incomplete)
{
	OWNED(virtual_lab) lab;
	struct error error;

	virtual_lab_open(&lab, burst,
		VIRTUAL_LAB_SET(MAPPER(""), CUT, "topology=torus:dims=4x4,hosts=1", "switch.vcs=2",
			"routing={algorithm: dfsssp}"));
	lab.fabric->sw[0]->vcs = 1;
	assert_int_equal(virtual_fabric_run(lab.fabric, NULL, NULL, NULL, &error), 0);
	assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &error), 0);
	assert_int_equal(lab.result.event[0].reroute_ps, WEFT_TIME_NEVER);
	assert_string_equal(lab.result.reason[0].text,
		"switches refused 1 of the mapper's tables and kept their previous ones");
}

UNIT_TEST(the_frames_of_a_mapper_occupy_its_cable)
{
	OWNED(virtual_lab) with = RUN(MAPPER(", mode: always, hosts: [h0]"),
		"events=[{at: 30ms, link: 's0:2', rate: 10Gbps}]");
	OWNED(virtual_lab) without = RUN("events=[{at: 30ms, link: 's0:2', rate: 10Gbps}]");

	assert_true(result_counter(&with.result, "mapper_frames") > 0);
	assert_true(virtual_host_channel(with.fabric, 0)->busy_ps >
		    virtual_host_channel(without.fabric, 0)->busy_ps);
}

UNIT_TEST(whatever_is_cut_nothing_is_lost_without_being_counted)
{
	uint64_t lost = 0;

	for (unsigned seed = 1; seed <= 6; seed++) {
		char text[32];
		OWNED(virtual_lab) lab;

		snprintf(text, sizeof(text), "seed=%u", seed);
		lab = RUN(MAPPER(""), text, "measure.duration=20ms",
			seed % 2 == 0 ? "routing.mode=source" : "routing.mode=table",
			"events=[{every: 1500us, jitter: 50%, link: random, down: 700us}, "
			"{at: 4ms, switch: s3, down: 3ms}, {at: 9ms, host: h1, down: 2ms}]");
		assert_int_equal(
			lab.result.packets.delivered + lab.result.packets.pending + lab.result.lost,
			lab.result.packets.injected);
		assert_int_equal(lab.result.duplicated | lab.result.out_of_order, 0);
		lost += lab.result.event[0].lost;
	}
	assert_true(lost > 0);
}

UNIT_TEST(source_routes_that_nothing_uses_are_freed)
{
	OWNED(virtual_lab) lab = RUN(MAPPER(""), "routing.mode=source", "measure.duration=200ms",
		"events=[{every: 4ms, link: random, down: 1ms}]", "traffic.0.load=1%",
		"traffic.0.stop=200ms", "mapper.linger=1ms");

	assert_true(result_counter(&lab.result, "mapper_changes_live") +
			    result_counter(&lab.result, "mapper_changes_paused") >
		    20);
	assert_true(virtual_mapper_sets(lab.fabric) <= 8);
	assert_int_equal(lab.result.lost | lab.result.duplicated | lab.result.out_of_order, 0);
}

UNIT_TEST(a_run_with_mappers_gives_the_same_bytes_each_time)
{
	static const struct drawn drawn = {
		.set = {MAPPER(""), "hello=100us", "measure.duration=10ms", "nic.retry=100us",
			"topology=rlft:ports=4,stages=2", CUT},
		.sets = 6};
	const unsigned one[] = {1, 0};

	drawn_expect_workers(&drawn, 0, "\"mapper_changes_live\": 2", one);
}

UNIT_TEST(several_workers_are_refused)
{
	struct error error;
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, burst, VIRTUAL_LAB_SET(MAPPER(""), CUT));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, 2, &error), -EINVAL);
	assert_string_equal(error.text,
		"test: mapper.after: mapper requires a single worker; use '--workers 1', or a time instead of 'mapper'");
}
