/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Run files with wormhole switches: their measurements, and what they refuse. */

#include <errno.h>
#include <math.h>

#include "experiment/run/run_config.h"
#include "result_counter.h"
#include "wormhole/wormhole_fabric.h"
#include "wormhole/wormhole_net.h"

static const char irregular[] =
	"weft: run/1\n"
	"topology: \"irregular:switches=16,hosts=4,seed=3\"\n"
	"clock: virtual\n"
	"switch: {switching: wormhole}\n"
	"routing: {algorithm: ud-itb}\n"
	"measure: {warmup-messages: 3000, messages: 10000}\n"
	"traffic:\n"
	"  - {pattern: uniform, load: 2%, message: 512B, arrivals: uniform}\n";

static const char pair[] =
	"weft: run/1\n"
	"topology: \"mesh:dims=2,hosts=1\"\n"
	"clock: virtual\n"
	"switch: {switching: wormhole}\n"
	"measure: {warmup: 1ms, duration: 10ms}\n"
	"traffic:\n"
	"  - {pattern: uniform, from: [h0], load: 1%, message: 512B, arrivals: constant}\n";

struct outcome {
	struct run_result result;
	struct wormhole_counters count;
	uint64_t waiting_max; /* own messages */
};

static struct outcome run(const char *text, const char *const *set, unsigned sets)
{
	struct outcome outcome = {0};
	struct wormhole_fabric *fabric;
	struct run_config *config;
	struct topology *topology;
	struct error error;

	config = run_config_parse(text, strlen(text), "test", set, sets, &error);
	if (config == NULL || run_config_supported(config, &error) != 0 ||
		(topology = run_config_open_topology(config, &error)) == NULL ||
		(fabric = wormhole_fabric_create(topology, config, &error)) == NULL ||
		wormhole_fabric_run(fabric, NULL, NULL, NULL, &error) != 0 ||
		wormhole_fabric_result(fabric, &outcome.result, &error) != 0) {
		fail_msg("%s", error.text);
		return outcome;
	}
	assert_ptr_equal(wormhole_net_check(wormhole_fabric_net(fabric)), NULL);
	outcome.count = wormhole_net_counters(wormhole_fabric_net(fabric));
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (wormhole_fabric_waiting(fabric, i) > outcome.waiting_max)
			outcome.waiting_max = wormhole_fabric_waiting(fabric, i);
	wormhole_fabric_destroy(fabric);
	topology_destroy(topology);
	run_config_destroy(config);
	return outcome;
}

#define RUN(text, ...)                                \
	run(text, (const char *const[]){__VA_ARGS__}, \
		sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

UNIT_TEST(the_defaults_are_those_of_the_thesis)
{
	struct outcome outcome = RUN(pair, "seed=1");
	double cycles = 8 + 2 * 32 + 512;

	assert_float_equal(outcome.result.network_mean_ns, cycles * 6.25, 1e-6);
	run_result_free(&outcome.result);
	outcome = RUN(pair, "link.rate=1.25Gbps");
	assert_float_equal(outcome.result.network_mean_ns, cycles * 6.4, 1e-6); /* 3737.6 ns */
	assert_int_equal(outcome.result.network_ns.max, 3738);
	assert_true(outcome.result.messages.delivered > 30);
	/* A message becomes ready within a cycle, and waits for the next one. */
	assert_true(outcome.result.total_mean_ns >= outcome.result.network_mean_ns);
	assert_true(outcome.result.total_mean_ns < outcome.result.network_mean_ns + 6.25);
	run_result_free(&outcome.result);
}

/* 0.1528 flits/ns on the only channel. */
UNIT_TEST(a_saturated_channel_carries_what_the_routing_delay_leaves)
{
	struct outcome outcome = RUN(pair, "traffic[0].load=100%");

	assert_float_equal(2 * outcome.result.accepted, 512.0 / 536, 0.001);
	assert_float_equal(2 * outcome.result.flits_per_ns_per_switch, 0.1528, 0.0002);
	assert_float_equal(2 * outcome.result.offered, 1, 0.001);
	assert_true(outcome.waiting_max > 50);
	assert_int_equal(
		result_counter(&outcome.result, "host_messages_waiting"), outcome.waiting_max);
	run_result_free(&outcome.result);
}

/* Flits per cycle on the channel to h2, which two other hosts of its switch use alternately. */
static double channel_of_two(const char *start)
{
	static const char text[] =
		"weft: run/1\n"
		"topology: \"mesh:dims=2,hosts=3\"\n"
		"clock: virtual\n"
		"switch: {switching: wormhole}\n"
		"measure: {warmup: 1ms, duration: 10ms}\n"
		"traffic:\n"
		"  - {pattern: uniform, from: [h0, h1], to: [h2], load: 100%, message: 512B}\n";
	struct outcome outcome = RUN(text, start);
	double accepted = 6 * outcome.result.accepted;

	run_result_free(&outcome.result);
	return accepted;
}

UNIT_TEST(routing_starts_with_the_grant_or_with_the_header)
{
	assert_float_equal(channel_of_two("seed=1"), 512.0 / 536, 0.001);
	assert_float_equal(channel_of_two("switch.routing-start=grant"), 512.0 / 536, 0.001);
	assert_float_equal(channel_of_two("switch.routing-start=header"), 512.0 / 513, 0.001);
}

UNIT_TEST(both_readings_agree_without_load)
{
	struct outcome outcome = RUN(pair, "switch.routing-start=header");

	assert_float_equal(outcome.result.network_mean_ns, (8 + 2 * 32 + 512) * 6.25, 1e-6);
	run_result_free(&outcome.result);
}

UNIT_TEST(the_same_seed_gives_the_same_result)
{
	struct outcome a = RUN(irregular, "seed=5"), b = RUN(irregular, "seed=5"),
		       c = RUN(irregular, "seed=6");
	json_t *first, *second;

	a.result.wall = b.result.wall = (typeof(a.result.wall)){0};
	first = run_result_json(&a.result, NULL);
	second = run_result_json(&b.result, NULL);
	assert_true(json_equal(first, second));
	assert_true(a.result.fingerprint != c.result.fingerprint);
	json_decref(first);
	json_decref(second);
	run_result_free(&a.result);
	run_result_free(&b.result);
	run_result_free(&c.result);
}

UNIT_TEST(below_saturation_what_is_offered_is_accepted)
{
	struct outcome outcome = RUN(irregular, "measure.messages=40000");
	const struct run_result *result = &outcome.result;

	assert_true(fabs(result->accepted / result->offered - 1) < 0.005);
	/* The load counts only bytes of messages. */
	assert_true(fabs(result->offered / 0.02 - 1) < 0.02);
	assert_int_equal(result->network_ns.count, 40000);
	assert_int_equal(result->messages.delivered, 43000);
	assert_int_equal(
		result->messages.injected, result->messages.delivered + result->packets.pending);
	assert_true(result_counter(&outcome.result, "itb_absorbed") > 1000);
	assert_int_equal(result_counter(&outcome.result, "itb_discarded"), 0);
	run_result_free(&outcome.result);
}

UNIT_TEST(more_goes_over_itbs_than_over_up_down)
{
	struct outcome ud = RUN(irregular, "routing.algorithm=ud", "traffic[0].load=20%"),
		       itb = RUN(irregular, "traffic[0].load=20%");

	assert_true(itb.result.accepted > 1.15 * ud.result.accepted);
	assert_int_equal(ud.count.absorbed, 0);
	run_result_free(&ud.result);
	run_result_free(&itb.result);
}

UNIT_TEST(minhop_on_a_ring_stands_still_and_the_circle_is_named)
{
	struct outcome outcome = RUN(irregular, "topology=ring:switches=6,hosts=2",
		"routing.algorithm=minhop", "routing.may-deadlock=true", "traffic[0].load=60%",
		"measure.messages=200000");

	assert_true(outcome.result.deadlock);
	assert_true(outcome.result.incomplete);
	assert_int_equal(outcome.result.cycles, 6);
	assert_int_equal(outcome.result.cycle[0].from[0], 's');
	run_result_free(&outcome.result);
}

/* Each switch of the row leaves a quarter of its share to traffic from behind. */
UNIT_TEST(the_far_end_of_a_parking_lot_starves)
{
	struct outcome outcome = RUN(pair, "topology=mesh:dims=12,hosts=3", "routing.algorithm=ud",
		"traffic[0]={pattern: hotspot, to: [h35], load: 10%, message: 512B}");
	const struct run_result *result = &outcome.result;

	assert_false(result->deadlock);
	assert_true(result->starvation_known);
	assert_true(result->starved_count > 0);
	assert_string_equal(result->starved[0].host, "h0");
	for (unsigned i = 0; i < result->starved_count; i++)
		assert_true(atoi(&result->starved[i].host[1]) < 27);
	run_result_free(&outcome.result);
}

UNIT_TEST(a_stop_ends_a_run_in_which_hardly_anything_happens)
{
	struct error error = {""};
	OWNED(run_config) *config = run_config_parse(pair, strlen(pair), "test", NULL, 0, &error);
	OWNED(topology) *topology = run_config_open_topology(config, &error);
	struct wormhole_fabric *fabric = wormhole_fabric_create(topology, config, &error);
	struct run_result result = {0};
	atomic_bool stop = true;

	assert_int_equal(wormhole_fabric_run(fabric, &stop, NULL, NULL, &error), 0);
	assert_int_equal(wormhole_fabric_result(fabric, &result, &error), 0);
	assert_true(result.incomplete);
	assert_true(wormhole_net_now(wormhole_fabric_net(fabric)) < 10000); /* out of 1,600,000 */
	run_result_free(&result);
	wormhole_fabric_destroy(fabric);
}

UNIT_TEST(the_same_ring_with_itbs_never_does)
{
	struct outcome outcome = RUN(irregular, "topology=ring:switches=6,hosts=2",
		"traffic[0].load=60%", "measure.messages=20000");

	assert_false(outcome.result.deadlock);
	assert_int_equal(outcome.result.network_ns.count, 20000);
	run_result_free(&outcome.result);
}

UNIT_TEST(hosts_add_up_to_the_whole)
{
	struct outcome outcome = RUN(irregular, "traffic[0].load=15%", "measure.hosts=true");
	struct run_host sum = {.name = ""};

	assert_int_equal(outcome.result.host_count, 64);
	for (unsigned i = 0; i < outcome.result.host_count; i++) {
		const struct run_host *host = &outcome.result.host[i];

		sum.injected += host->injected;
		sum.waiting += host->waiting;
		sum.absorbed += host->absorbed;
		assert_true(host->pool_peak_bytes <=
			    result_counter(&outcome.result, "itb_pool_peak_bytes"));
	}
	assert_int_equal(sum.injected, outcome.result.messages.injected);
	assert_int_equal(sum.waiting, result_counter(&outcome.result, "host_messages_waiting"));
	assert_true(sum.waiting > 0);
	assert_int_equal(sum.absorbed, outcome.count.absorbed);
	run_result_free(&outcome.result);
}

/* Absorbed and forwarded as fast as possible, and more slowly. */
UNIT_TEST(the_times_of_itbs_are_the_files)
{
	struct outcome fast = RUN(irregular, "traffic[0].load=0.1%", "measure.messages=3000"),
		       slow = RUN(irregular, "traffic[0].load=0.1%", "measure.messages=3000",
			       "nic.itb.detection=1375ns", "nic.itb.programming=1000ns");
	double itbs = (double)fast.count.absorbed / (double)fast.count.taken;
	double later = slow.result.network_mean_ns - fast.result.network_mean_ns;

	assert_true(itbs > 0.1);
	/* Five times as slow (section 5.6.1), at almost no load. */
	assert_true(fabs(later / (itbs * 4 * 475) - 1) < 0.1);
	run_result_free(&fast.result);
	run_result_free(&slow.result);
}

UNIT_TEST(a_pool_that_is_too_small_loses_messages_and_says_so)
{
	struct outcome outcome = RUN(irregular, "traffic[0].load=20%", "nic.itb.pool=8KiB");

	assert_true(outcome.count.discarded > 0);
	assert_int_equal(result_counter(&outcome.result, "itb_discarded"), outcome.count.discarded);
	assert_int_equal(outcome.result.lost, outcome.count.discarded);
	assert_int_equal(outcome.result.messages.dropped, outcome.count.discarded);
	assert_true(result_counter(&outcome.result, "itb_pool_peak_bytes") <= 8192);
	run_result_free(&outcome.result);
}

UNIT_TEST(a_run_without_the_messages_that_it_wants_is_incomplete)
{
	struct outcome outcome = RUN(
		irregular, "traffic[0].stop=10us", "measure.duration=1ms", "measure.sample=1ms");

	assert_true(outcome.result.incomplete);
	assert_false(outcome.result.deadlock);
	run_result_free(&outcome.result);
}

/* Ended by time, and by messages. With messages, warm-up ends with its last message, in the
 * middle of a step. */
UNIT_TEST(samples_are_taken_from_the_end_of_the_warm_up_on)
{
	struct outcome timed = RUN(pair, "measure.warmup=4ms", "measure.sample=1500us",
			       "traffic[0].load=20%"),
		       counted = RUN(irregular, "measure.sample=20us", "traffic[0].load=5%");
	const struct run_result *result = &counted.result;
	uint64_t absorbed = 0, all = result_counter(result, "itb_absorbed");

	assert_int_equal(timed.result.samples, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(timed.result.sample[i].t_ns, 4000000 + 1500000 * (i + 1));
		assert_float_equal(timed.result.sample[i].accepted, 0.1, 0.002);
	}
	/* 3,000 of 13,000 were warm-up. The part after the last whole sample is in no sample. */
	assert_true(result->samples > 3);
	for (uint32_t i = 0; i < result->samples; i++) {
		absorbed += result->sample[i].itb;
		assert_in_range(result->sample[i].t_ns - result->sample[0].t_ns + 10, 20000 * i,
			20000 * i + 20);
	}
	assert_true(result->sample[0].t_ns % 20000 > 10);
	assert_in_range(absorbed, all * 6 / 13, all * 10 / 13);
	run_result_free(&timed.result);
	run_result_free(&counted.result);
}

UNIT_TEST(selectors_spread_messages_over_the_routes)
{
	struct outcome outcome = RUN(irregular, "routing.algorithm=ud-rr",
		"traffic[0].pattern=permutation", "traffic[0].load=20%", "traffic[0].message=32B");

	assert_int_equal(outcome.result.out_of_order, 0);
	assert_true(result_counter(&outcome.result, "host_messages_overtaken") > 0);
	run_result_free(&outcome.result);
}

/* The sender learns contention: a message that STOP delayed cost more. */
UNIT_TEST(selectors_that_learn_are_told)
{
	struct outcome first = RUN(irregular, "routing.algorithm=ud-det", "traffic[0].load=10%",
			       "nic.selector=first"),
		       learnt = RUN(irregular, "routing.algorithm=ud-det", "traffic[0].load=10%");

	assert_true(first.result.fingerprint != learnt.result.fingerprint);
	run_result_free(&first.result);
	run_result_free(&learnt.result);
}

static void expect_refusal_of(const char *const *set, unsigned sets, const char *why)
{
	struct error error = {""};
	OWNED(run_config) *config =
		run_config_parse(irregular, strlen(irregular), "test", set, sets, &error);
	struct topology *topology;
	struct wormhole_fabric *fabric = NULL;

	if (config != NULL && run_config_supported(config, &error) == 0) {
		topology = run_config_open_topology(config, &error);
		assert_non_null(topology);
		fabric = wormhole_fabric_create(topology, config, &error);
		topology_destroy(topology);
	}
	assert_null(fabric);
	if (strstr(error.text, why) == NULL)
		fail_msg("'%s' instead of '%s'", error.text, why);
}

static void expect_refusal(const char *set, const char *why)
{
	expect_refusal_of(&set, 1, why);
}

/* The run would never end. */
UNIT_TEST(a_sample_shorter_than_a_cycle_is_refused)
{
	static const char *const slow[] = {"link.rate=1Mbps", "measure.sample=7999ns"};

	expect_refusal_of(
		slow, 2, "test: measure.sample: 7999ns is less than a cycle; use 8us or more");
}

UNIT_TEST(what_it_cannot_be_is_refused)
{
	expect_refusal("switch.flow-control=credit", "flow-control: stop-go");
	expect_refusal("switch.voq=true", "one queue per input");
	expect_refusal("routing.mode=table", "routing.mode: source");
	expect_refusal("routing.algorithm=minhop", "may deadlock; use a deadlock-free");
	expect_refusal("clock=real", "clock: virtual");
	expect_refusal("switch.go=17B", "run empty within a message");
	expect_refusal("switch.buffer=71B", "overflow");
	expect_refusal("link.delay=200ns", "overflow");
	expect_refusal("switch.routing-delay=0ns", "each be one cycle or more");
	expect_refusal("topology={link: {rate: 10Gbps, delay: 30ns}, switches: [{name: s, ports: "
		       "2}], hosts: [{name: x}, {name: y}], links: [{a: x:0, b: s:0}, {a: y:0, b: "
		       "s:1}]}",
		"--set topology: topology: sets rates or delays, which replace those in 'link', 1.28Gbps and 49.2ns: link x:0 - s:0 of 10Gbps and 30ns: 38 flits");
}
