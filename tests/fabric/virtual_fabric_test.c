/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Whole fabrics on the virtual clock. Timing is compared with formulas, queueing with theory, and
 * the invariants are checked under load. */

#include <math.h>

#include "base/rng.h"
#include "frames_once.h"
#include "virtual/virtual_trace.h"
#include "virtual_lab.h"
#include "wire/frame.h"

static const char tree[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=8,stages=2\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 30ns}\n"
	"switch: {switching: cut-through, buffer: 64KiB, mtu: 4KiB}\n"
	"nic: {mtu: 4KiB}\n"
	"routing: {algorithm: dmodk, mode: table}\n"
	"measure: {warmup: 0ms, duration: 1ms, sample: 1ms}\n"
	"traffic:\n"
	"  - {pattern: hotspot, from: [h0], to: [h31], load: 1%, message: 1000B}\n";

#define RUN(text, ...) virtual_lab_result(text, VIRTUAL_LAB_SET(__VA_ARGS__))

/* The path host, leaf, spine, leaf, host has 4 links and 3 switches. */
#define FRAME_PS   ((FRAME_HEADER_BYTES + 1000 + FRAME_WIRE_OVERHEAD) * (weft_time)80)
#define LINK_PS    (30 * PS_PER_NS)
#define ROUTING_PS (100 * PS_PER_NS)

static void assert_latency(struct run_result *result, weft_time wanted_ps)
{
	assert_true(result->packets.delivered > 5);
	assert_int_equal(result->samples, 1);
	/* The sample's mean is computed in picoseconds. All latencies are equal, so it equals
	 * each of them. */
	assert_true(
		fabs(result->sample[0].latency_ns * (double)PS_PER_NS - (double)wanted_ps) < 0.01);
	assert_int_equal(result->network_ns.max, ps_to_ns(wanted_ps));
	run_result_free(result);
}

UNIT_TEST(cut_through_takes_the_delays_and_one_transmission)
{
	struct run_result result = RUN(tree, "switch.routing-delay=100ns");

	assert_latency(&result, 4 * LINK_PS + 3 * ROUTING_PS + FRAME_PS);
}

UNIT_TEST(store_and_forward_takes_a_transmission_a_link)
{
	struct run_result result =
		RUN(tree, "switch.switching=store-and-forward", "switch.routing-delay=100ns");

	assert_latency(&result, 4 * LINK_PS + 3 * ROUTING_PS + 4 * FRAME_PS);
}

UNIT_TEST(a_source_route_costs_its_bytes)
{
	struct run_result result = RUN(tree, "routing.mode=source");

	assert_latency(&result, 4 * LINK_PS + FRAME_PS + 4 * 80);
}

UNIT_TEST(a_message_of_several_frames_follows_itself_closely)
{
	OWNED(run_result) result = RUN(
		tree, "traffic[0].message=3000B", "nic.mtu=1000B", "switch.routing-delay=100ns");
	weft_time last = 4 * LINK_PS + 3 * ROUTING_PS + 3 * FRAME_PS;

	assert_int_equal(result.total_ns.max, ps_to_ns(last));
}

/* At 80 ps per byte, every fraction of a nanosecond occurs once. */
UNIT_TEST(latencies_are_to_the_nearest_nanosecond)
{
	for (unsigned more = 0; more < 25; more++) {
		char message[64];
		struct run_result result;

		snprintf(message, sizeof(message), "traffic[0].message=%uB", 1000 + more);
		result = RUN(tree, message);
		assert_latency(&result, 4 * LINK_PS + FRAME_PS + more * 80);
	}
}

/* One switch with 32 hosts, each of which sends at full rate to random others. */
static const char star[] = "weft: run/1\n"
			   "topology: \"full:switches=1,hosts=32\"\n"
			   "clock: virtual\n"
			   "link: {rate: 100Gbps, delay: 10ns}\n"
			   "switch: {switching: store-and-forward, buffer: 1MiB, mtu: 1KiB}\n"
			   "nic: {mtu: 1KiB}\n"
			   "routing: {algorithm: ud, mode: table}\n"
			   "measure: {warmup: 500us, duration: 3ms, sample: 1ms}\n"
			   "traffic:\n"
			   "  - {pattern: uniform, from: all, load: 100%, message: 1KiB}\n";

/* Karol, Hluchyj, Morgan 1987: 2 - sqrt(2) = 0.586 for many ports; slightly more for 32. */
UNIT_TEST(heads_of_line_block_without_voqs)
{
	OWNED(run_result) result = RUN(star, "switch.voq=false");

	assert_true(result.accepted > 0.575 && result.accepted < 0.61);
}

UNIT_TEST(voqs_carry_nearly_everything)
{
	OWNED(run_result) result = RUN(star, "switch.voq=true");

	assert_true(result.accepted > 0.96);
}

/* One of four hosts sends frames that take whole picoseconds, and others that do not. */
UNIT_TEST(a_flow_has_the_rate_of_its_link)
{
	static const unsigned gbps[] = {100, 2880, 99999, 100000};

	for (unsigned i = 0; i < sizeof(gbps) / sizeof(gbps[0]); i++) {
		OWNED(run_result) result;
		char net[96], until[64];

		snprintf(net, sizeof(net),
			"topology=full:switches=1,hosts=4,rate=%uGbps,delay=100ps", gbps[i]);
		snprintf(until, sizeof(until), "measure.duration=%uns", 40000000 / gbps[i] + 12000);
		result = RUN(star, net, until, "measure.sample=1us", "measure.warmup=10us",
			"traffic[0].from=[h0]", "traffic[0].to=[h1]",
			"switch.switching=cut-through");
		assert_float_equal(result.accepted, 0.25, 0.00025);
	}
}

UNIT_TEST(what_is_offered_is_accepted_at_low_load)
{
	OWNED(run_result) result = RUN(star, "traffic[0].load=30%");

	assert_true(result.offered > 0.2985 && result.offered < 0.3015);
	assert_true(result.accepted > 0.2985 && result.accepted < 0.3015);
}

/* The watchdog checks more than a million times. */
UNIT_TEST(a_run_in_which_nothing_happens_can_be_stopped)
{
	atomic_bool stop = true;
	struct error error = {""};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, star,
		VIRTUAL_LAB_SET("traffic[0].start=90ms", "measure.duration=100ms",
			"measure.sample=100ms", "watchdog=1us"));
	assert_int_equal(virtual_fabric_run(lab.fabric, &stop, NULL, NULL, &error), 0);
	assert_int_equal(virtual_fabric_result(lab.fabric, &lab.result, &error), 0);
	assert_true(lab.result.incomplete);
	assert_int_equal(lab.result.packets.injected, 0);
}

static void assert_offered_and_accepted(struct run_result result, double load)
{
	assert_float_equal(result.offered, load, 0.003 * load);
	assert_float_equal(result.accepted, result.offered, 0.005 * result.offered);
	assert_int_equal(result.packets.dropped, 0);
	run_result_free(&result);
}

/* In a torus, the route to the next host has 3 bytes and to the farthest 18, which is much for
 * 64-byte messages. */
UNIT_TEST(source_routes_of_all_lengths_are_in_the_load)
{
	static const char *const patterns[] = {"{pattern: uniform", "{pattern: permutation",
		"{pattern: local, switches: 2", "{pattern: hotspot, to: [h9, h54], share: 30%"};

	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		char text[1024];

		snprintf(text, sizeof(text),
			"weft: run/1\ntopology: \"torus:dims=8x8,hosts=1\"\nclock: virtual\n"
			"link: {rate: 10Gbps, delay: 30ns}\nrouting: {algorithm: ud}\n"
			"measure: {warmup: 100us, duration: 2100us, sample: 1ms}\n"
			"traffic: [%s, load: 2%%, message: 64B}]\n",
			patterns[i]);
		assert_offered_and_accepted(virtual_lab_result(text, NULL, 0), 0.02);
	}
}

/* Nine of ten messages consist of one short frame, the others of eight full frames. */
UNIT_TEST(frames_of_two_lengths_are_in_the_offered_load)
{
	assert_offered_and_accepted(RUN(star, "traffic[0].load=20%", "traffic[0].message=64B",
					    "traffic[0].other-message=8KiB",
					    "traffic[0].other-share=10%", "measure.duration=20ms"),
		0.2);
}

UNIT_TEST(frames_of_drawn_lengths_are_in_the_offered_load)
{
	assert_offered_and_accepted(
		RUN(star, "traffic[0].load=20%", "traffic[0].message=16B",
			"traffic[0].message-max=9000B", "measure.duration=20ms"),
		0.2);
}

UNIT_TEST(the_same_seed_gives_the_same_deliveries_to_the_last_bit)
{
	uint64_t print[3];

	for (unsigned i = 0; i < 3; i++) {
		OWNED(run_result) result = RUN(star, i < 2 ? "seed=7" : "seed=8",
			"measure.warmup=0ms", "measure.sample=100us", "measure.duration=200us");

		print[i] = result.fingerprint;
	}
	assert_int_equal(print[0], print[1]);
	assert_int_not_equal(print[0], print[2]);
}

/* Tight buffers, several VCs, both kinds of queues, random networks. */
UNIT_TEST(nothing_is_lost_doubled_or_reordered_and_credits_agree_under_any_load)
{
	static const char text[] = "weft: run/1\n"
				   "topology: \"irregular:switches=12,degree=4,hosts=3\"\n"
				   "clock: virtual\n"
				   "link: {rate: 10Gbps, delay: 100ns}\n"
				   "switch: {buffer: 16KiB, mtu: 2KiB}\n"
				   "nic: {mtu: 2KiB}\n"
				   "routing: {algorithm: ud, mode: source}\n"
				   "measure: {warmup: 0ms, duration: 2ms, sample: 1ms}\n"
				   "traffic:\n"
				   "  - {pattern: uniform, from: all, load: 90%, message: 700B}\n"
				   "  - {pattern: hotspot, from: 20%, to: [h5], load: 50%, "
				   "message: 5KiB}\n";
	char topology[96], seed[32];

	for (unsigned i = 1; i <= 8; i++) {
		OWNED(run_result) result;

		snprintf(topology, sizeof(topology),
			"topology=irregular:switches=12,degree=4,hosts=3,seed=%u", i);
		snprintf(seed, sizeof(seed), "seed=%u", i);
		result = RUN(text, topology, seed, i % 2 ? "switch.voq=true" : "switch.voq=false",
			i % 3 ? "switch.switching=cut-through"
			      : "switch.switching=store-and-forward",
			i % 4 < 2 ? "routing.mode=source" : "routing.mode=table");
		assert_true(result.packets.delivered > 1000);
		assert_int_equal(result.lost, 0);
		assert_int_equal(result.duplicated, 0);
		assert_int_equal(result.out_of_order, 0);
		assert_int_equal(result.packets.dropped, 0);
		assert_false(result.deadlock);
	}
}

UNIT_TEST(a_torus_in_dimension_order_uses_its_classes_and_does_not_stand_still)
{
	static const char text[] = "weft: run/1\n"
				   "topology: \"torus:dims=5x5,hosts=2\"\n"
				   "clock: virtual\n"
				   "watchdog: off\n"
				   "switch: {buffer: 8KiB, mtu: 1KiB, vcs: 2}\n"
				   "nic: {mtu: 1KiB}\n"
				   "routing: {algorithm: dor, mode: source}\n"
				   "measure: {warmup: 0ms, duration: 10ms, sample: 1ms}\n"
				   "traffic:\n"
				   "  - {pattern: uniform, from: all, load: 100%, message: 1KiB}\n";
	OWNED(run_result) result = virtual_lab_result(text, NULL, 0);

	assert_false(result.deadlock);
	assert_true(result.accepted > 0.1);
}

UNIT_TEST(links_say_how_busy_they_were)
{
	OWNED(run_result) result = RUN(tree, "measure.links=true", "traffic[0].load=50%");
	unsigned busy = 0;

	assert_int_equal(result.links, 2 * (32 + 32));
	for (unsigned i = 0; i < result.links; i++) {
		double utilisation = result.link[i].utilisation;

		assert_true(utilisation == 0 || (utilisation > 0.49 && utilisation < 0.51));
		busy += utilisation > 0;
	}
	assert_int_equal(busy, 4);
}

/* A run without warm-up that consists only of samples. */
UNIT_TEST(samples_of_links_add_up_to_the_links_of_the_run)
{
	OWNED(run_result) result = RUN(tree, "measure.link-series=true", "measure.sample=100us",
		"traffic=[{pattern: uniform, from: all, load: 80%, message: 1KiB}]");
	const struct run_link_series *series = &result.link_series;

	assert_true(result.samples > 1);
	assert_int_equal(series->samples, result.samples);
	assert_int_equal(series->ways, result.links);
	assert_int_equal(result.sample[result.samples - 1].t_ns, result.to_ns);
	for (unsigned i = 0; i < result.links; i++) {
		uint64_t busy = 0, blocked = 0, stalls = 0;

		for (unsigned k = 0; k < series->samples; k++) {
			const uint32_t *value = run_link_series_at(series, k, result.link[i].way);

			busy += value[RUN_LINK_UTILISATION];
			blocked += value[RUN_LINK_BLOCKED];
			stalls += value[RUN_LINK_STALLS];
		}
		assert_true(fabs((double)busy / 1e6 / series->samples -
				    result.link[i].utilisation) < 1e-6);
		assert_true(fabs((double)blocked / 1e6 / series->samples - result.link[i].blocked) <
			    1e-6);
		assert_int_equal(stalls, result.link[i].stalls);
	}
}

/* 50 % in each sample up to 500 us, and nothing afterwards. */
UNIT_TEST(a_sample_of_links_is_of_its_own_time)
{
	OWNED(run_result) result = RUN(tree, "measure.link-series=true", "traffic[0].load=50%",
		"traffic[0].stop=500us", "measure.sample=100us");
	const struct run_link_series *series = &result.link_series;
	unsigned busy = 0;

	for (unsigned i = 0; i < result.links; i++) {
		uint32_t way = result.link[i].way;

		busy += result.link[i].utilisation > 0;
		for (unsigned k = 0; k < series->samples && result.link[i].utilisation > 0; k++) {
			uint32_t share = run_link_series_at(series, k, way)[RUN_LINK_UTILISATION];

			assert_true(result.sample[k].t_ns > 500000
					    ? result.sample[k].t_ns == 600000 || share == 0
					    : share > 480000 && share < 520000);
		}
	}
	assert_int_equal(busy, 4);
}

UNIT_TEST(links_are_measured_from_the_warm_up_on)
{
	OWNED(run_result) result = RUN(tree, "measure.links=true", "traffic[0].load=50%",
		"traffic[0].stop=500us", "measure.warmup=600us");

	for (unsigned i = 0; i < result.links; i++)
		assert_true(result.link[i].utilisation == 0);
	assert_true(result.messages.delivered > 100);
}

/* A frame takes 333.6 ns, so three have started within a microsecond. */
UNIT_TEST(no_link_is_busy_for_longer_than_there_was_time)
{
	OWNED(run_result) result = RUN(tree, "measure.links=true", "traffic[0].load=100%",
		"traffic[0].message=4KiB", "measure.duration=1us", "measure.sample=1us");
	double max = 0;

	for (unsigned i = 0; i < result.links; i++)
		max = fmax(max, result.link[i].utilisation);
	assert_true(max > 0.66 && max <= 1);
}

/* Two switches. A packet takes 100 ns on a link, as long as the delay and the routing take, so
 * credits return after five packet times. */
static uint64_t packets_through(const char *buffer, const char *credits)
{
	static const char text[] =
		"weft: run/1\n"
		"topology: \"full:switches=2,hosts=1,rate=100Gbps,delay=100ns\"\n"
		"clock: virtual\n"
		"switch: {switching: store-and-forward, mtu: 1180B, voq: false, "
		"routing-delay: 100ns}\n"
		"nic: {mtu: 1180B}\n"
		"routing: {mode: table}\n"
		"measure: {warmup: 0ms, duration: 1ms, sample: 1ms}\n"
		"traffic:\n"
		"  - {pattern: hotspot, from: [h0], to: [h1], load: 100%, message: 1180B}\n";
	OWNED(run_result) result = RUN(text, buffer, credits);
	uint64_t delivered = result.packets.delivered;

	return delivered;
}

/* A packet takes 20 blocks. If credits are returned for two packets at a time, a buffer of five
 * packets is worth four. */
UNIT_TEST(a_buffer_of_the_round_trip_suffices_with_credits_for_each_packet)
{
	assert_in_range(packets_through("switch.buffer=6400B", "switch.credits=each"), 9970, 10000);
	assert_in_range(
		packets_through("switch.buffer=6400B", "switch.credits=coalesced"), 7970, 8020);
	assert_in_range(packets_through("switch.buffer=5120B", "switch.credits=each"), 7970, 8020);
	assert_in_range(
		packets_through("switch.buffer=7680B", "switch.credits=coalesced"), 9970, 10000);
}

/* The last limits that each end of a link received. */
struct limits {
	uint32_t seen[2][32][8][4]; /* hosts, switches */
	unsigned frames;
};

/* A virtual_trace_fn. */
static void see_limits(void *ctx, const struct virtual_trace_record *record)
{
	struct limits *limits = ctx;

	if (record->credit == NULL || record->out)
		return;
	limits->frames++;
	for (unsigned vc = 0; vc < 4; vc++) {
		uint32_t *seen = &limits->seen[record->at.kind == DEVICE_SWITCH][record->at.device]
					      [record->at.port][vc];

		assert_true((int32_t)(record->credit->limit[vc] - *seen) >= 0);
		*seen = record->credit->limit[vc];
	}
}

/* Outputs that become free at the same time make several frames of one input due. */
UNIT_TEST(credits_are_never_taken_back)
{
	struct limits limits = {.frames = 0};
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, tree,
		VIRTUAL_LAB_SET("switch.vcs=4", "switch.buffer=64KiB", "traffic[0].pattern=uniform",
			"traffic[0].from=all", "traffic[0].to=all", "traffic[0].load=90%",
			"traffic[0].message=4KiB", "routing.mode=table", "measure.duration=100us",
			"measure.sample=100us"));
	virtual_fabric_trace(lab.fabric, see_limits, &limits);
	virtual_lab_run(&lab);
	assert_true(limits.frames > 1000);
}

UNIT_TEST(frames_of_several_routes_may_overtake)
{
	OWNED(run_result) result = RUN(tree, "routing.mode=source", "routing.algorithm=ud-random",
		"traffic[0].pattern=uniform", "traffic[0].from=all", "traffic[0].to=all",
		"traffic[0].load=100%", "switch.buffer=16KiB");

	assert_true(result_counter(&result, "host_frames_overtaken") > 100);
	assert_int_equal(result.out_of_order, 0);
}

/* With 1,152 hosts, each number takes one byte (virtual_fabric.c). Each host sends more than 254
 * short frames to one other host. */
UNIT_TEST(numbers_of_a_byte_count_on_when_frames_are_many)
{
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, tree,
		VIRTUAL_LAB_SET("topology=rlft:ports=48,stages=2", "measure.duration=100us",
			"measure.sample=100us",
			"traffic=[{pattern: permutation, load: 50%, message: 64B, stop: 10us}]"));
	virtual_lab_run(&lab);
	expect_each_frame_once(lab.fabric);
	for (uint32_t i = 0; i < lab.fabric->hosts; i++) {
		assert_int_equal(lab.fabric->host[i].nic.sent.kind, PAIR_NUMBERS_BYTES);
		assert_true(lab.fabric->host[i].nic.frames_sent > PAIR_NUMBERS_LARGE);
	}
}

/* With 3,456 hosts, the table takes 2.5 MB. */
static const char large[] = "weft: run/1\n"
			    "topology: \"rlft:ports=24,stages=3\"\n"
			    "clock: virtual\n"
			    "link: {rate: 100Gbps, delay: 30ns}\n"
			    "routing: {algorithm: dmodk, mode: table}\n"
			    "measure: {warmup: 0us, duration: 4us, sample: 4us}\n"
			    "traffic:\n"
			    "  - {pattern: uniform, from: all, load: 60%, message: 1000B}\n";

UNIT_TEST(a_large_table_of_which_equal_parts_are_shared_routes_as_the_whole_one)
{
	OWNED(virtual_lab) shared, whole;
	const struct route_table *table;

	virtual_lab_open(&shared, large, NULL, 0);
	virtual_lab_open(&whole, large, NULL, 0);
	assert_non_null(shared.fabric->routes.blocks);
	table = whole.fabric->routes.table;
	for (uint32_t at = 0; at < table->switches; at++) {
		assert_non_null(whole.fabric->sw[at]->table_block);
		switch_set_table(
			whole.fabric->sw[at], route_table_row(table, at), NULL, table->hosts);
	}
	virtual_lab_run(&shared);
	virtual_lab_run(&whole);
	assert_true(shared.result.packets.delivered > 0);
	assert_int_equal(shared.result.fingerprint, whole.result.fingerprint);
	assert_int_equal(shared.result.packets.delivered, whole.result.packets.delivered);
}

static uint64_t large_by(unsigned workers, const char *queuing)
{
	struct error error = {""};
	OWNED(virtual_lab) lab;
	uint64_t fingerprint;

	virtual_lab_open(&lab, large, VIRTUAL_LAB_SET("switch.vcs=2", queuing));
	assert_int_equal(virtual_fabric_set_ranks(lab.fabric, NULL, workers, &error), 0);
	virtual_lab_run(&lab);
	assert_true(lab.fabric->looks_far && lab.result.packets.delivered > 0);
	fingerprint = lab.result.fingerprint;
	return fingerprint;
}

UNIT_TEST(several_workers_deliver_in_a_large_fabric_what_one_does)
{
	static const char *const queuing[] = {"queuing=1q", "queuing=dbbm"};

	for (unsigned i = 0; i < sizeof(queuing) / sizeof(queuing[0]); i++)
		assert_int_equal(large_by(1, queuing[i]), large_by(3, queuing[i]));
}

/* 1,025 rows of 64 blocks that all differ. */
UNIT_TEST(a_table_of_too_many_blocks_is_read_as_it_is)
{
	struct fabric_routes routes = {.table = route_table_create(1025, 4096)};
	struct rng rng;

	assert_non_null(routes.table);
	rng_init(&rng, 1, 0, 0);
	for (size_t i = 0; i < (size_t)1025 * 4096; i++)
		routes.table->primary[i] = (uint8_t)rng_below(&rng, 64);
	assert_int_equal(fabric_routes_share(&routes), 0);
	assert_null(routes.blocks);
	fabric_routes_free(&routes);
}

UNIT_TEST(a_table_that_the_cache_holds_is_read_as_it_is)
{
	OWNED(virtual_lab) lab;

	virtual_lab_open(&lab, tree, NULL, 0);
	assert_null(lab.fabric->routes.blocks);
}
