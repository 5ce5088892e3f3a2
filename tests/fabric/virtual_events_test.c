/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Events of a run on the virtual clock. Whatever happens to cables, each frame arrives once or is
 * counted, and credits come back. */

#include "base/rng.h"
#include "experiment/result/run_result_jobs.h"
#include "frames_once.h"
#include "virtual/virtual_links.h"
#include "virtual/virtual_measure.h"
#include "virtual_drawn.h"
#include "virtual_lab.h"

/* Traffic ends long before the run, so that lost frames can be resent. */
static const char burst[] = "weft: run/1\n"
			    "topology: \"rlft:ports=4,stages=3\"\n"
			    "clock: virtual\n"
			    "hello: 100us\n"
			    "link: {rate: 100Gbps, delay: 100ns}\n"
			    "switch: {buffer: 16KiB, mtu: 2KiB}\n"
			    "nic: {mtu: 2KiB, retry: 100us}\n"
			    "routing: {algorithm: dmodk, mode: table}\n"
			    "measure: {duration: 20ms, sample: 100us}\n"
			    "traffic:\n"
			    "  - {pattern: uniform, load: 50%, message: 2KiB, stop: 2ms}\n";

#define RUN(...) virtual_lab_ran(burst, VIRTUAL_LAB_SET(__VA_ARGS__))

/* Nothing is in flight: everything sent was received, or counts as received. */
static void expect_credits_whole(const struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < 2 * fabric->topology->links; i++) {
		const struct topology_link *link = &fabric->topology->link_at[i / 2];
		const struct link_end *from =
			virtual_end_at(fabric, i % 2 == 0 ? link->a : link->b);
		const struct link_end *to = virtual_end_at(fabric, i % 2 == 0 ? link->b : link->a);

		for (unsigned vc = 0; vc < fabric->vcs; vc++) {
			assert_int_equal(from->tx[vc].sent, to->rx[vc].received);
			assert_int_equal(to->rx[vc].received, to->rx[vc].released);
			assert_int_equal(from->tx[vc].limit, to->rx[vc].granted);
		}
	}
}

static void expect_all_recovered(const struct virtual_lab *lab)
{
	const struct run_result *result = &lab->result;
	uint64_t lost = result_counter(result, "link_frames_lost");

	expect_each_frame_once(lab->fabric);
	assert_int_equal(result->packets.delivered, result->packets.injected);
	assert_int_equal(result->packets.pending, 0);
	assert_int_equal(result->packets.dropped, lost);
	assert_int_equal(result->packets.retransmitted, lost);
	assert_int_equal(result_counter(result, "host_frames_abandoned"), 0);
	assert_int_equal(result->lost | result->duplicated | result->out_of_order, 0);
	expect_credits_whole(lab->fabric);
}

static uint64_t events_lost(const struct run_result *result)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < result->events; i++)
		lost += result->event[i].lost;
	return lost;
}

UNIT_TEST(a_flap_shorter_than_three_hellos_is_not_noticed_and_loses_frames_that_come_again)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 1ms, link: 's0:2', down: 150us}]");

	expect_all_recovered(&lab);
	assert_int_equal(lab.result.events, 1);
	assert_true(lab.result.event[0].lost > 0);
	assert_int_equal(lab.result.event[0].lost, lab.result.event[0].resent);
	assert_int_equal(lab.result.event[0].detect_ps, WEFT_TIME_NEVER);
	assert_int_equal(result_counter(&lab.result, "discard_link_down"), 0);
	assert_string_equal(lab.result.event[0].what, "link s0:2 down 150us");
}

UNIT_TEST(a_longer_one_is_noticed_after_three_hellos_and_switches_discard_what_waits)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 1050us, link: 's0:2', down: 700us}]");

	expect_all_recovered(&lab);
	assert_int_equal(lab.result.event[0].detect_ps, 250 * PS_PER_US);
	assert_true(result_counter(&lab.result, "discard_link_down") > 0);
	assert_true(run_result_event_recovery(&lab.result, 0) > 250 * PS_PER_US);
}

UNIT_TEST(a_cut_cable_loses_what_it_carries_and_what_is_sent_into_it)
{
	/* h0 sends a frame of 2 KiB every 170 ns until its credits for 16 KiB are used up. */
	OWNED(virtual_lab) lab =
		RUN("traffic=[{pattern: hotspot, from: [h0], to: [h5], load: 100%, "
		    "message: 2KiB, arrivals: constant, stop: 1ms}]",
			"events=[{at: 500us, link: h0, down: 1us}]");

	assert_in_range(lab.result.event[0].lost, 4, 7);
	expect_all_recovered(&lab);
}

UNIT_TEST(damage_and_lost_credits_cost_no_frame_and_no_credit)
{
	OWNED(virtual_lab) lab = RUN("faults={corrupt: 1%, credit-loss: 20%}");

	expect_all_recovered(&lab);
	assert_true(result_counter(&lab.result, "link_frames_corrupted") > 1000);
	assert_true(result_counter(&lab.result, "link_credits_lost") > 1000);
	assert_int_equal(result_counter(&lab.result, "link_frames_corrupted"),
		result_counter(&lab.result, "link_frames_lost"));
}

UNIT_TEST(a_host_that_stays_away_costs_counted_frames_only)
{
	OWNED(virtual_lab) lab =
		RUN("events=[{at: 1ms, host: h7, down: forever}]", "nic.give-up=3ms");
	const struct run_result *result = &lab.result;

	assert_true(result_counter(result, "host_frames_abandoned") > 0);
	assert_int_equal(result->packets.delivered + result->packets.pending + result->lost,
		result->packets.injected);
	assert_int_equal(result->lost, result_counter(result, "host_frames_abandoned"));
	assert_int_equal(result->duplicated | result->out_of_order, 0);
	assert_int_equal(result->event[0].abandoned, result->lost);
}

UNIT_TEST(frames_that_wait_in_their_hosts_are_neither_injected_nor_abandoned)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 100us, host: h7, down: forever}]",
		"nic.window=4", "nic.give-up=10ms", "hello=1ms");
	const struct run_result *result = &lab.result;
	uint64_t abandoned = result_counter(result, "host_frames_abandoned");

	assert_in_range(abandoned, 1, result_counter(result, "link_frames_lost"));
	assert_int_equal(result->lost, abandoned);
	assert_int_equal(result->packets.delivered + abandoned, result->packets.injected);
	assert_int_equal(result->messages.injected, result->packets.injected);
	assert_true(result->messages.generated > result->packets.injected);
	assert_in_range(result_counter(result, "host_frames_unsent_given_up"), 1,
		result->messages.generated - result->messages.injected);
}

UNIT_TEST(only_frames_that_were_lost_have_a_cut_in_their_network_latency)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 100us, host: h7, down: 2ms}]", "nic.window=4");
	const struct run_result *result = &lab.result;
	double lost = (double)result_counter(&lab.result, "link_frames_lost");

	expect_all_recovered(&lab);
	assert_true(histogram_quantile(&result->network_ns,
			    1 - (lost + 1) / (double)result->packets.delivered) < 600e3);
}

UNIT_TEST(a_slow_drain_holds_back_senders_and_loses_nothing)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 500us, host: h7, drain: 10Gbps}]",
		"measure.warmup=1ms", "measure.duration=2ms");

	assert_int_equal(events_lost(&lab.result), 0);
	assert_true(lab.result.accepted < 0.95 * lab.result.offered);
}

UNIT_TEST(a_counter_above_its_value_makes_an_event_occur_once)
{
	OWNED(virtual_lab) lab =
		RUN("events=[{when: {counter: data_out, above: 1000}, link: 's0:2', down: 50us}]");

	expect_all_recovered(&lab);
	assert_int_equal(lab.result.events, 1);
	assert_int_equal(lab.result.event[0].at_ps % (100 * PS_PER_US), 1);
}

UNIT_TEST(an_event_that_repeats_occurs_in_each_interval_with_its_jitter)
{
	OWNED(virtual_lab) lab =
		RUN("events=[{every: 1ms, jitter: 20%, link: random, down: 50us}]");
	bool moved = false;

	expect_all_recovered(&lab);
	assert_int_equal(lab.result.events, 19);
	for (uint32_t i = 0; i < lab.result.events; i++) {
		int64_t off = (int64_t)lab.result.event[i].at_ps - (int64_t)((i + 1) * PS_PER_MS);

		assert_true(off >= -(int64_t)(PS_PER_MS / 5) && off <= (int64_t)(PS_PER_MS / 5));
		moved = moved || off != 0;
	}
	assert_true(moved);
}

/* --- new routes --- */

UNIT_TEST(new_routes_avoid_what_is_down_and_come_after_the_time_of_the_file)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 500us, link: 's0:2', down: forever}]",
		"mapper.after=400us", "traffic.0.stop=10ms");
	const struct run_result *result = &lab.result;

	assert_int_equal(result->event[0].reroute_ps, 400 * PS_PER_US);
	assert_int_equal(result_counter(result, "reroutes_failed"), 0);
	/* Everything that was lost was resent on another path. */
	assert_int_equal(result->packets.delivered, result->packets.injected);
	assert_int_equal(result->packets.retransmitted, result->event[0].lost);
	assert_int_equal(result->lost | result->duplicated | result->out_of_order, 0);
	assert_true(run_result_event_recovery(result, 0) < PS_PER_MS);
	expect_each_frame_once(lab.fabric);
}

/* Five switches that are all linked need one layer. The remaining ring needs two. */
UNIT_TEST(new_routes_may_need_layers_that_the_first_ones_did_not)
{
	OWNED(virtual_lab) lab = RUN("topology=full:switches=5", "switch.vcs=2",
		"routing={algorithm: dfsssp}", "mapper.after=100us", "traffic.0.stop=4ms",
		"events=[{at: 500us, link: 's0:1', down: forever}, "
		"{at: 500us, link: 's0:2', down: forever}, {at: 500us, link: 's1:2', down: forever}, "
		"{at: 500us, link: 's1:3', down: forever}, {at: 500us, link: 's2:3', down: forever}]");
	uint64_t second = 0;

	for (uint32_t at = 0; at < 5; at++) {
		assert_non_null(lab.fabric->sw[at]->vc_rule);
		assert_int_equal(lab.fabric->sw[at]->signal.plain_vcs, 0);
		for (unsigned port = 0; port < 4; port++)
			second += lab.fabric->sw[at]->port[port].link.tx[1].sent;
	}
	assert_true(second > 0);
	assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
}

UNIT_TEST(without_new_routes_frames_for_a_dead_cable_never_arrive)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 500us, link: 's0:2', down: forever}]");

	assert_int_equal(lab.result.event[0].reroute_ps, WEFT_TIME_NEVER);
	assert_true(lab.result.packets.delivered < lab.result.packets.injected);
}

UNIT_TEST(a_cable_that_is_joined_gets_its_routes_back)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 500us, link: 's0:2', down: 1ms}]",
		"mapper.after=100us", "traffic.0.stop=4ms");
	const uint8_t port = 2;
	const struct topology_port at = {DEVICE_SWITCH, 0, port};

	expect_all_recovered(&lab);
	/* It is busy again after 1.6 ms. */
	assert_true(virtual_channel_at(lab.fabric, at)->free_at > 3 * PS_PER_MS);
}

UNIT_TEST(a_host_that_is_cut_off_leaves_the_routes_as_they_are)
{
	OWNED(virtual_lab) lab =
		RUN("events=[{at: 500us, host: h3, down: 1ms}]", "mapper.after=100us");

	assert_int_equal(lab.result.event[0].reroute_ps, WEFT_TIME_NEVER);
	assert_int_equal(result_counter(&lab.result, "reroutes_failed"), 1);
	assert_int_equal(lab.result.warnings, 1);
	expect_all_recovered(&lab);
}

/* The routes of a ring and of its remainder are acyclic, but form a cycle together. */
#define RING                                                                         \
	"topology=ring:switches=6,hosts=1", "routing={algorithm: ud, mode: source}", \
		"mapper.after=100us", "events=[{at: 500us, link: 's0:1', down: forever}]"

UNIT_TEST(routes_that_could_deadlock_together_follow_each_other_after_a_pause)
{
	OWNED(virtual_lab) lab = RUN(RING);

	assert_int_equal(result_counter(&lab.result, "reroutes_paused"), 1);
	assert_true(result_counter(&lab.result, "reroutes_paused_ns") > 0);
	assert_true(lab.result.event[0].reroute_ps > 100 * PS_PER_US);
	assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
	assert_int_equal(lab.result.warnings, 1);
}

UNIT_TEST(with_in_transit_buffers_such_routes_follow_each_other_without_a_pause)
{
	OWNED(virtual_lab) lab = RUN(RING, "reconfigure.mode=itb");
	const struct run_result *result = &lab.result;

	assert_int_equal(result->event[0].reroute_ps, 100 * PS_PER_US);
	assert_int_equal(result_counter(result, "reroutes_paused"), 0);
	assert_int_equal(result_counter(result, "reroutes_bridged"), 1);
	assert_true(result_counter(result, "reroutes_itb_routes") > 0);
	assert_true(result_counter(result, "host_itb_absorbed") > 0);
	/* Only until the packets with old routes have arrived. */
	assert_in_range(result_counter(result, "reroutes_bridged_ns"), 1000, 1000000);
	assert_int_equal(result->packets.delivered, result->packets.injected);
	assert_int_equal(result->warnings, 0);
}

UNIT_TEST(immediate_changes_are_at_risk_and_say_why)
{
	OWNED(virtual_lab) lab = RUN(RING, "reconfigure.mode=immediate");

	assert_int_equal(lab.result.event[0].reroute_ps, 100 * PS_PER_US);
	assert_int_equal(result_counter(&lab.result, "reroutes_at_risk"), 1);
	assert_non_null(strstr(lab.result.warning[0].text, "despite a possible deadlock"));
}

UNIT_TEST(drain_pauses_even_where_routes_could_coexist)
{
	OWNED(virtual_lab) lab = RUN("events=[{at: 500us, link: 's0:2', down: forever}]",
		"mapper.after=100us", "reconfigure.mode=drain");

	assert_int_equal(result_counter(&lab.result, "reroutes_paused"), 1);
	assert_true(lab.result.event[0].reroute_ps > 100 * PS_PER_US);
	assert_int_equal(lab.result.packets.delivered, lab.result.packets.injected);
}

/* --- drawn events --- */

#define DRAWN_TEXT 4096

/* Writes 'count' drawn events of all kinds that start before 'end_us'. Also cuts random links
 * repeatedly, and switch s3 once. */
static void draw(struct rng *rng, unsigned count, unsigned end_us, char text[DRAWN_TEXT])
{
	static const char *const effect[] = {"link: 's%u:%u', down: %uus",
		"switch: s%u, down: %u%uus", "host: h%u, down: %u%uus",
		"link: 's%u:%u', rate: %u9Gbps", "link: 's%u:%u', delay: %u50ns",
		"link: 's%u:%u', corrupt: 0.%u%%", "link: 's%u:%u', credit-loss: %u%%",
		"host: h%u, drain: %u%uGbps"};
	size_t used = (size_t)snprintf(text, DRAWN_TEXT,
		"events=[{every: %uus, jitter: 50%%, link: random, down: 20us}, "
		"{at: 100us, switch: s3, down: 150us}",
		20 + (unsigned)rng_below(rng, 100));

	for (unsigned i = 0; i < count; i++) {
		used += (size_t)snprintf(text + used, DRAWN_TEXT - used, ", {at: %uus, ",
			1 + (unsigned)rng_below(rng, end_us));
		used += (size_t)snprintf(text + used, DRAWN_TEXT - used, effect[rng_below(rng, 8)],
			(unsigned)rng_below(rng, 12), 1 + (unsigned)rng_below(rng, 3),
			1 + (unsigned)rng_below(rng, 9));
		used += (size_t)snprintf(text + used, DRAWN_TEXT - used, "}");
	}
	snprintf(text + used, DRAWN_TEXT - used, "]");
}

UNIT_TEST(whatever_happens_nothing_is_lost_without_being_counted)
{
	static const char *const network[] = {"topology=rlft:ports=4,stages=3",
		"topology=torus:dims=4x4,hosts=1",
		"topology=irregular:switches=12,degree=4,hosts=1,seed=3"};
	static const char *const routing[] = {"routing={algorithm: ud, mode: table}",
		"routing={algorithm: ud, mode: source}", "routing={algorithm: ud-itb}"};
	uint64_t events = 0, lost = 0;

	for (unsigned i = 0; i < 18; i++) {
		char text[DRAWN_TEXT], seed[32];
		OWNED(virtual_lab) lab;
		struct rng rng;

		rng_init(&rng, i, 0, 0);
		draw(&rng, 20, 2000, text);
		snprintf(seed, sizeof(seed), "seed=%u", i + 1);
		lab = RUN(text, seed, network[i % 3], routing[i / 3 % 3],
			i % 5 == 0 ? "mapper.after=50us" : "mapper.after=off",
			i == 5 || i == 15 ? "reconfigure.mode=itb" : "reconfigure.mode=auto",
			i % 2 == 0 ? "switch.voq=true" : "switch.voq=false",
			i % 4 < 2 ? "switch.vcs=1" : "switch.credits=each");
		assert_int_equal(
			lab.result.packets.delivered + lab.result.packets.pending + lab.result.lost,
			lab.result.packets.injected);
		assert_int_equal(lab.result.duplicated | lab.result.out_of_order, 0);
		assert_int_equal(
			lab.result.lost, result_counter(&lab.result, "host_frames_abandoned"));
		events += lab.result.events;
		lost += events_lost(&lab.result);
	}
	assert_true(events > 3000);
	assert_true(lost > 10000);
}

UNIT_TEST(bridges_give_the_same_bytes_with_any_number_of_workers)
{
	const struct drawn drawn = {
		.set = {RING, "topology=ring:switches=8,hosts=1", "reconfigure.mode=itb",
			"hello=100us", "nic.retry=100us", "measure.duration=1ms",
			"measure.sample=50us"},
		.sets = 10};

	drawn_expect_workers(&drawn, 0, "\"reroutes_bridged\": 1", drawn_workers);
}

UNIT_TEST(any_number_of_workers_gives_the_same_bytes)
{
	for (unsigned i = 0; i < 4; i++) {
		char text[DRAWN_TEXT];
		struct drawn drawn = {
			.set = {"hello=100us", "measure.duration=1ms", "measure.sample=50us", text,
				i < 2 ? "faults={corrupt: 0.1%, credit-loss: 1%}"
				      : "routing.adaptive=adaptive",
				i < 2 ? "mapper.after=30us" : "mapper.after=off",
				i == 1 ? "routing={algorithm: ud, mode: source}" : "seed=9",
				i == 1 ? "reconfigure.mode=itb" : "seed=9"},
			.sets = 8};
		struct rng rng;

		rng_init(&rng, i, 1, 0);
		draw(&rng, 20, 800, text);
		if (i == 3) /* the time until switches notice the first cut */
			snprintf(text, sizeof(text),
				"events=[{at: 100us, link: 's0:2', down: 800us}, "
				"{every: 130us, jitter: 30%%, link: random, down: 70us}]");
		drawn_expect_workers(&drawn, i, NULL, drawn_workers);
	}
}
