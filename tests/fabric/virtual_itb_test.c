/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* In-transit buffers on the virtual clock: timing, and the invariants under load. */

#include "experiment/run/run_config.h"
#include "virtual/virtual_private.h"
#include "virtual_lab.h"

#define RUN(text, ...) virtual_lab_ran(text, VIRTUAL_LAB_SET(__VA_ARGS__))

/* The path h1, s1, s2, s6, h6, s6, s7, h7 has 7 links and passes switches 5 times. */
static const char quiet[] =
	"weft: run/1\n"
	"topology: \"torus:dims=4x4,hosts=1\"\n"
	"clock: virtual\n"
	"seed: 7\n"
	"link: {rate: 10Gbps, delay: 30ns}\n"
	"switch: {routing-delay: 100ns}\n"
	"routing: {algorithm: ud-itb}\n"
	"measure: {duration: 1ms, sample: 1ms}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [h1], to: [h7], load: 1%, message: 1000B}\n";

#define ROUTE_BYTES  7
#define FRAME(bytes) (FRAME_HEADER_BYTES + ROUTE_BYTES + (bytes) + FRAME_WIRE_OVERHEAD)
#define BYTE_PS      800
#define WAY_PS       (7 * 30 * PS_PER_NS + 5 * 100 * PS_PER_NS)

static void expect_latency(struct virtual_lab *lab, weft_time wanted_ps)
{
	assert_true(lab->result.packets.delivered > 5);
	assert_int_equal(
		result_counter(&lab->result, "host_itb_reinjected"), lab->result.packets.injected);
	assert_int_equal(lab->result.total_ns.max, wanted_ps / PS_PER_NS);
	assert_int_equal((uint64_t)histogram_mean(&lab->result.total_ns), wanted_ps / PS_PER_NS);
	virtual_lab_close(lab);
}

/* The whole frame must have arrived, which takes longer than detection and programming. */
UNIT_TEST(a_long_frame_takes_two_transmissions)
{
	struct virtual_lab lab = RUN(quiet, "seed=7");

	expect_latency(&lab, WAY_PS + 2 * FRAME(1000) * BYTE_PS);
}

/* The path is h1, s1, s2, s6, s7, h7. */
UNIT_TEST(a_host_that_absorbs_on_contention_is_passed_by_in_an_idle_network)
{
	const weft_time way_ps = 5 * 30 * PS_PER_NS + 4 * 100 * PS_PER_NS + FRAME(1000) * BYTE_PS;
	OWNED(virtual_lab) lab = RUN(quiet, "routing.itb-absorb=contention");

	assert_true(lab.result.packets.delivered > 5);
	assert_int_equal(result_counter(&lab.result, "host_itb_absorbed"), 0);
	/* Generation and arrival are rounded. */
	assert_in_range(lab.result.total_ns.max, way_ps / PS_PER_NS, way_ps / PS_PER_NS + 1);
}

UNIT_TEST(on_contention_hosts_absorb_fewer_frames_and_all_arrive)
{
	uint64_t absorbed[2];

	for (unsigned i = 0; i < 2; i++) {
		struct virtual_lab lab = RUN(quiet,
			"traffic=[{pattern: uniform, from: all, load: 60%, message: 1000B, stop: 500us}]",
			"routing.algorithm=bmax-itb",
			i == 0 ? "routing.itb-absorb=always" : "routing.itb-absorb=contention");

		absorbed[i] = result_counter(&lab.result, "host_itb_absorbed");
		assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
		assert_int_equal(lab.result.out_of_order, 0);
		assert_false(lab.result.deadlock);
		virtual_lab_close(&lab);
	}
	assert_in_range(absorbed[1], 1, absorbed[0] / 2);
}

UNIT_TEST(a_short_frame_waits_for_detection_and_programming)
{
	struct virtual_lab lab = RUN(quiet, "traffic[0].message=32B");

	expect_latency(&lab, WAY_PS + 475 * PS_PER_NS + FRAME(32) * BYTE_PS);
}

UNIT_TEST(detection_and_programming_are_configurable)
{
	struct virtual_lab lab = RUN(quiet, "traffic[0].message=32B", "nic.itb.detection=1375ns",
		"nic.itb.programming=1us");

	expect_latency(&lab, WAY_PS + 2375 * PS_PER_NS + FRAME(32) * BYTE_PS);
}

/* Storing and forwarding messages would take 5 more transmissions than cut-through at the host. */
UNIT_TEST(reinjection_begins_before_the_message_is_complete)
{
	struct virtual_lab lab = RUN(quiet, "traffic[0].message=6000B", "nic.mtu=1000B");

	expect_latency(&lab, WAY_PS + (6 + 1) * FRAME(1000) * BYTE_PS);
}

/* Up and down around nearly the whole ring: 58 links between switches, 60 elements. */
UNIT_TEST(a_route_of_60_elements_is_followed_and_counts_in_full)
{
	OWNED(virtual_lab) lab =
		RUN(quiet, "topology=ring:switches=60,hosts=1", "routing.algorithm=ud",
			"routing.root=s0", "traffic[0].from=[h29]", "traffic[0].to=[h31]");
	weft_time wanted_ps = 60 * 30 * PS_PER_NS + 59 * 100 * PS_PER_NS +
			      (FRAME(1000) - ROUTE_BYTES + 60) * BYTE_PS;

	assert_true(lab.result.packets.delivered > 5);
	assert_int_equal(lab.result.total_ns.max, wanted_ps / PS_PER_NS);
}

static const char busy[] = "weft: run/1\n"
			   "topology: \"irregular:switches=8,degree=4,hosts=2,seed=1\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 30ns}\n"
			   "switch: {buffer: 8KiB, mtu: 1KiB}\n"
			   "nic: {mtu: 1KiB, itb: {pool: 64MiB}}\n"
			   "watchdog: off\n"
			   "routing: {algorithm: ud-itb}\n"
			   "measure: {duration: 400us, sample: 100us}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 100%, message: 1KiB}\n";

static void expect_whole(struct virtual_lab *lab)
{
	const struct run_result *result = &lab->result;

	assert_false(result->deadlock);
	assert_int_equal(result->lost, 0);
	assert_int_equal(result->duplicated, 0);
	assert_int_equal(result->out_of_order, 0);
	assert_int_equal(result->packets.dropped, 0);
	assert_true(result->packets.delivered > 1000);
	if (lab->fabric->routes.itbs)
		assert_true(result_counter(&lab->result, "host_itb_absorbed") > 100);
}

/* Networks, positions of ITBs, lengths and VCs are drawn. All hosts send at full rate. */
UNIT_TEST(nothing_is_lost_reordered_or_stuck_under_full_load_with_pool_enough)
{
	static const char *const topology[] = {
		"topology=irregular:switches=8,degree=4,hosts=2,seed=2",
		"topology=torus:dims=4x4,hosts=1", "topology=ring:switches=9,hosts=2"};
	static const char *const algorithm[] = {"routing.algorithm=ud-itb",
		"routing.algorithm=dfs-itb", "routing.algorithm=bmin-itb",
		"routing.algorithm=bmax-itb"};
	static const char *const length[] = {
		"traffic[0].message=64B", "traffic[0].message=1KiB", "traffic[0].message=5000B"};

	unsigned with_itbs = 0;

	for (unsigned i = 0; i < 36; i++) {
		char seed[32];
		OWNED(virtual_lab) lab;

		snprintf(seed, sizeof(seed), "seed=%u", i + 1);
		lab = RUN(busy, topology[i % 3], algorithm[i % 4], length[i / 3 % 3], seed,
			i % 2 == 0 ? "switch.vcs=1" : "switch.voq=false",
			i % 5 == 0 ? "switch.switching=store-and-forward"
				   : "switch.switching=cut-through");
		expect_whole(&lab);
		with_itbs += lab.fabric->routes.itbs;
	}
	assert_true(with_itbs > 24);
}

UNIT_TEST(a_small_pool_is_never_over_and_what_it_discards_is_counted)
{
	OWNED(virtual_lab) lab = RUN(busy, "nic.itb.pool=8KiB", "routing.algorithm=bmax-itb");
	const struct run_result *result = &lab.result;

	assert_true(result_counter(&lab.result, "host_itb_discarded") > 10);
	assert_true(result_counter(&lab.result, "host_itb_peak_bytes") <= 8192);
	assert_int_equal(
		result->packets.dropped, result_counter(&lab.result, "host_itb_discarded"));
	assert_int_equal(result->lost, 0);
	assert_int_equal(result->out_of_order, 0);
	assert_false(result->deadlock);
}

/* All hosts always have messages of their own, and there is one VC, so one kind of traffic blocks
 * the other. */
UNIT_TEST(own_messages_are_never_starved)
{
	OWNED(virtual_lab) lab = RUN(busy, "routing.algorithm=bmax-itb");
	unsigned loaded = 0;

	for (uint32_t i = 0; i < lab.fabric->hosts; i++) {
		const struct datagram *nic = &lab.fabric->host[i].nic;

		/* The messages that fill the pool, and the first 50 in the queue. */
		assert_true(nic->frames_sent * 4 + 4 >= nic->itb->reinjected);
		loaded += nic->itb->reinjected > 500;
	}
	assert_true(loaded > 4);
}

/* Figure 96 of the thesis: below saturation, no message waits for messages in transit. */
UNIT_TEST(below_saturation_own_messages_do_not_pile_up)
{
	OWNED(virtual_lab) lab = RUN(busy, "traffic[0].load=20%", "switch.buffer=64KiB");

	expect_whole(&lab);
	for (uint32_t i = 0; i < lab.fabric->hosts; i++)
		assert_true(datagram_waiting(&lab.fabric->host[i].nic) <= 11);
	assert_true(lab.result.messages.pending < 50);
}

UNIT_TEST(the_same_seed_gives_the_same_result_to_the_last_bit)
{
	OWNED(virtual_lab) first = RUN(busy, "seed=3"), second = RUN(busy, "seed=3"),
			   other = RUN(busy, "seed=4");

	assert_int_equal(first.result.fingerprint, second.result.fingerprint);
	assert_int_not_equal(first.result.fingerprint, other.result.fingerprint);
}

/* Minimal routes around a ring in one VC. All hosts send at full rate. */
static const char ring[] = "weft: run/1\n"
			   "topology: \"ring:switches=6,hosts=2\"\n"
			   "clock: virtual\n"
			   "link: {rate: 10Gbps}\n"
			   "switch: {buffer: 8KiB, mtu: 1KiB}\n"
			   "nic: {mtu: 1KiB, itb: {pool: 64MiB}}\n"
			   "watchdog: off\n"
			   "routing: {algorithm: minhop, mode: table, may-deadlock: true}\n"
			   "measure: {duration: 40ms, sample: 10ms}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 100%, message: 1KiB}\n";

/* Each channel ends at the switch from which the next channel starts, around the ring. */
static void expect_circle(const struct virtual_lab *lab)
{
	const struct virtual_fabric *fabric = lab->fabric;

	assert_true(lab->result.deadlock);
	assert_int_equal(lab->result.cycles, 6);
	for (unsigned i = 0; i < 6; i++) {
		struct topology_port end;
		char name[64];

		assert_true(topology_peer(lab->topology, fabric->circle.port[i], &end));
		assert_int_equal(end.kind, DEVICE_SWITCH);
		assert_int_equal(end.device, fabric->circle.port[(i + 1) % 6].device);
		topology_port_name(lab->topology, fabric->circle.port[i], name, sizeof(name));
		assert_string_equal(name, lab->result.cycle[i].from);
	}
}

UNIT_TEST(minimal_routes_round_a_ring_deadlock_and_the_circle_is_named)
{
	OWNED(virtual_lab) lab = RUN(ring, "seed=1"), without_voqs = RUN(ring, "switch.voq=false");

	expect_circle(&lab);
	assert_true(lab.result.packets.pending > 50);
	assert_int_equal(lab.result.lost, 0);
	expect_circle(&without_voqs);
}

UNIT_TEST(the_watchdog_frees_what_waits_for_itself)
{
	OWNED(virtual_lab) stuck = RUN(ring, "seed=1"), freed = RUN(ring, "watchdog=5ms");

	expect_circle(&freed);
	assert_false(freed.fabric->deadlock); /* it went on */
	assert_true(result_counter(&freed.result, "discard_watchdog") > 10);
	assert_int_equal(freed.result.lost, result_counter(&freed.result, "discard_watchdog"));
	assert_true(freed.result.packets.delivered > stuck.result.packets.delivered + 100);
}

UNIT_TEST(in_transit_buffers_make_minimal_routes_round_a_ring_safe)
{
	OWNED(virtual_lab) lab = RUN(ring, "routing.algorithm=ud-itb", "routing.mode=source",
		"measure.duration=2ms", "measure.sample=1ms");

	assert_true(lab.fabric->routes.itbs);
	expect_whole(&lab);
	assert_int_equal(lab.result.cycles, 0);
}

UNIT_TEST(samples_say_how_many_frames_were_absorbed)
{
	OWNED(virtual_lab) lab = RUN(busy, "traffic[0].load=20%");
	uint64_t sum = 0;

	assert_int_equal(lab.result.samples, 4);
	for (unsigned i = 0; i < lab.result.samples; i++) {
		assert_true(lab.result.sample[i].itb > 10);
		sum += lab.result.sample[i].itb;
	}
	assert_int_equal(sum, result_counter(&lab.result, "host_itb_absorbed"));
}
