/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Adaptive routing, AFI and notifications in whole fabrics on the virtual clock. */

#include "frames_once.h"
#include "switch/switch_congestion.h"
#include "virtual/virtual_measure.h"
#include "virtual_lab.h"

/* h5 and h9 are hot spots, and the other hosts send to all. Thresholds and times are short, so that
 * roots appear and disappear within a millisecond. */
static const char tree[] =
	"weft: run/1\n"
	"topology: \"rlft:ports=4,stages=3\"\n"
	"clock: virtual\n"
	"link: {rate: 100Gbps, delay: 30ns}\n"
	"switch: {buffer: 32KiB, mtu: 1KiB, credits: each}\n"
	"nic: {mtu: 1KiB}\n"
	"routing: {algorithm: dmodk}\n"
	"detector: {crt: 20us, arn-ttl: 100us, arn-refresh: 5us, fcth: 70%}\n"
	"measure: {warmup: 0ms, duration: 1ms, sample: 100us}\n"
	"traffic:\n"
	"  - {pattern: uniform, from: rest, load: 90%, message: 1KiB, arrivals: poisson}\n"
	"  - {pattern: hotspot, from: 30%, to: [h5, h9], load: 100%, message: 2KiB}\n";

static const char *const modes[] = {"oblivious", "adaptive", "adaptive-th", "arn"};

static void check_switches(const struct virtual_fabric *fabric)
{
	for (uint32_t at = 0; at < fabric->switches; at++) {
		const char *wrong = switch_check(fabric->sw[at]);

		if (wrong != NULL)
			fail_msg("switch %u: %s", at, wrong);
	}
}

/* All packets are accounted for, none is stuck, and overtaking is not reported as an error. */
static void run(struct virtual_lab *lab, const char *const *set, unsigned sets)
{
	*lab = virtual_lab_ran(tree, set, sets);
	check_switches(lab->fabric);
	virtual_lab_expect_whole(lab);
}

#define RUN(lab, ...) run(lab, VIRTUAL_LAB_SET(__VA_ARGS__))

UNIT_TEST(nothing_is_lost_or_stuck_in_any_mode)
{
	static const char *const queuing[] = {"1q", "dbbm", "vftree", "flow2sl"};
	uint64_t adapted = 0, notified = 0, diverted = 0;

	for (unsigned i = 0; i < 32; i++) {
		OWNED(virtual_lab) lab;
		char seed[32], mode[64], afi[32], scheme[32], watch[64];

		snprintf(seed, sizeof(seed), "seed=%u", 7 + i);
		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i % 4]);
		snprintf(afi, sizeof(afi), "routing.afi=%s", i / 4 % 2 == 0 ? "true" : "false");
		snprintf(scheme, sizeof(scheme), "queuing=%s", queuing[i / 8]);
		snprintf(watch, sizeof(watch), "switch.credits=%s",
			i / 2 % 2 == 0 ? "each" : "coalesced");
		RUN(&lab, seed, mode, afi, scheme, watch,
			i / 8 == 0 ? "switch.vcs=1" : "switch.vcs=3");
		adapted += result_counter(&lab.result, "packets_adapted");
		if (strcmp(modes[i % 4], "arn") == 0) {
			notified += result_counter(&lab.result, "arn_sent");
			diverted += result_counter(&lab.result, "host_messages_diverted");
		}
	}
	assert_true(adapted > 1000);
	assert_true(notified > 100);
	assert_true(diverted > 100);
}

UNIT_TEST(no_mode_of_the_list_loses_or_reorders_frames)
{
	for (unsigned i = 0; i < 2 * adaptive_modes.count; i++) {
		OWNED(virtual_lab) lab;
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s",
			name_table_name(adaptive_modes.entry[i / 2]));
		if (adaptive_modes.entry[i / 2] == &adaptive_none)
			RUN(&lab, mode, "routing.mode=table");
		else
			RUN(&lab, mode, i % 2 == 0 ? "routing.afi=true" : "routing.afi=false");
	}
}

/* Arrival of each frame in the trace, by (destination, source) and number. */
#define PAIR_FRAMES 16384u
#define PAIRS       256u

struct host_arrivals {
	weft_time *at; /* [PAIRS][PAIR_FRAMES] */
	bool *tail;
	uint64_t frames, sum_ns;
};

static void note_arrival(void *ctx, const struct virtual_trace_record *record)
{
	struct host_arrivals *arrivals = ctx;
	const struct weft_packet *packet = record->packet;
	size_t i;

	if (packet == NULL || record->out || record->at.kind != DEVICE_HOST)
		return;
	assert_true(packet->sequence < PAIR_FRAMES);
	i = (packet->destination * 16u + packet->source) * PAIR_FRAMES + packet->sequence;
	assert_int_equal(arrivals->at[i], 0);
	arrivals->at[i] = record->now;
	arrivals->tail[i] = (packet->flags & FRAME_F_TAIL) != 0;
	arrivals->frames++;
	arrivals->sum_ns += (uint32_t)(record->now / PS_PER_NS) - packet->injected_ns;
}

struct waits {
	uint64_t frames, waited_ps, messages, message_waited_ps;
};

/* A frame is released when all earlier frames have arrived. A message is complete with its last
 * frame. */
static struct waits expected_waits(const struct host_arrivals *arrivals)
{
	struct waits waits = {0};

	for (size_t pair = 0; pair < PAIRS; pair++) {
		const weft_time *at = &arrivals->at[pair * PAIR_FRAMES];
		weft_time released = 0, complete = 0;

		for (unsigned i = 0; i < PAIR_FRAMES && at[i] != 0; i++) {
			released = at[i] > released ? at[i] : released;
			complete = at[i] > complete ? at[i] : complete;
			waits.frames += released > at[i];
			waits.waited_ps += released - at[i];
			if (!arrivals->tail[pair * PAIR_FRAMES + i])
				continue;
			waits.messages += released > complete;
			waits.message_waited_ps += released - complete;
			complete = 0;
		}
	}
	return waits;
}

static void expect_about(uint64_t ns, uint64_t expected_ps, uint64_t values)
{
	assert_in_range(ns, expected_ps / PS_PER_NS - values, expected_ps / PS_PER_NS + values);
}

/* Compared with the trace, which does not depend on the order at hosts. */
UNIT_TEST(frames_count_when_they_arrive_and_again_when_they_are_released)
{
	struct host_arrivals arrivals = {.at = calloc(PAIRS * PAIR_FRAMES, sizeof(weft_time)),
		.tail = calloc(PAIRS * PAIR_FRAMES, sizeof(bool))};

	assert_true(arrivals.at != NULL && arrivals.tail != NULL);
	for (unsigned i = 0; i < 6; i++) {
		const struct order_wait *waited;
		struct waits expected;
		OWNED(virtual_lab) lab;
		char mode[64], seed[32];
		uint64_t held;

		memset(arrivals.at, 0, PAIRS * PAIR_FRAMES * sizeof(weft_time));
		arrivals.frames = arrivals.sum_ns = 0;
		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i % 4]);
		snprintf(seed, sizeof(seed), "seed=%u", 70 + i);
		virtual_lab_open(&lab, tree,
			VIRTUAL_LAB_SET(mode, seed,
				i % 2 == 0 ? "traffic[0].message=1KiB"
					   : "traffic[0].message=5KiB"));
		virtual_fabric_trace(lab.fabric, note_arrival, &arrivals);
		virtual_lab_run(&lab);
		expected = expected_waits(&arrivals);
		waited = &lab.result.waited;
		held = virtual_order_held(lab.fabric);
		assert_true(waited->waited_ns.count > 0 || i == 3);
		assert_int_equal(lab.result.network_ns.count, arrivals.frames);
		expect_about(
			lab.result.network_ns.sum, arrivals.sum_ns * PS_PER_NS, arrivals.frames);
		assert_int_equal(lab.result.packets.delivered + held, arrivals.frames);
		assert_int_equal(waited->network_arrived_ns.count, waited->waited_ns.count + held);
		assert_int_equal(waited->waited_ns.count, expected.frames);
		expect_about(waited->waited_ns.sum, expected.waited_ps, expected.frames);
		assert_true(waited->total_released_ns.count >= expected.messages);
		expect_about(waited->total_released_ns.sum - waited->total_arrived_ns.sum,
			expected.message_waited_ps, waited->total_released_ns.count);
		assert_int_equal(lab.result.accepted > lab.result.released, held > 0);
	}
	free(arrivals.at);
	free(arrivals.tail);
}

UNIT_TEST(modes_without_a_detector_do_without_voqs)
{
	for (unsigned i = 0; i < 3; i++) {
		OWNED(virtual_lab) lab;
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i]);
		RUN(&lab, mode, "routing.afi=true", "switch.voq=false");
		assert_true(result_counter(&lab.result, "packets_adapted") > 0);
	}
}

/* Deterministic routing keeps the order. Packets that leave it may overtake others. */
UNIT_TEST(frames_overtake_only_where_something_is_adapted)
{
	struct virtual_lab lab;

	RUN(&lab, "routing.mode=table");
	virtual_lab_close(&lab);
	for (unsigned i = 0; i < 4; i++) {
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i]);
		/* Without congestion, only modes that do not test for it adapt packets. */
		RUN(&lab, mode, "routing.afi=true", "traffic[0].load=5%", "traffic[1].load=1%");
		if (result_counter(&lab.result, "packets_adapted") == 0)
			assert_int_equal(result_counter(&lab.result, "host_frames_overtaken"), 0);
		assert_int_equal(result_counter(&lab.result, "packets_adapted") == 0, i >= 2);
		virtual_lab_close(&lab);
	}
}

UNIT_TEST(the_same_seed_gives_the_same_run)
{
	for (unsigned i = 0; i < 4; i++) {
		OWNED(virtual_lab) one, two, other;
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i]);
		RUN(&one, mode, "routing.afi=true");
		RUN(&two, mode, "routing.afi=true");
		RUN(&other, mode, "routing.afi=true", "seed=2");
		assert_int_equal(one.result.fingerprint, two.result.fingerprint);
		assert_int_not_equal(one.result.fingerprint, other.result.fingerprint);
		assert_int_equal(result_counter(&one.result, "packets_adapted"),
			result_counter(&two.result, "packets_adapted"));
	}
}

/* Samples and counters agree. */
UNIT_TEST(samples_add_up_to_the_counters)
{
	OWNED(virtual_lab) lab;
	uint64_t adapted = 0, notes = 0;

	RUN(&lab, "routing.adaptive=arn", "routing.afi=true");
	for (unsigned i = 0; i < lab.result.samples; i++) {
		adapted += lab.result.sample[i].adapted;
		notes += lab.result.sample[i].arn;
	}
	assert_true(notes > 0);
	assert_int_equal(adapted, result_counter(&lab.result, "packets_adapted"));
	assert_int_equal(notes, result_counter(&lab.result, "arn_sent"));
	assert_true(result_counter(&lab.result, "congestion_roots") > 0);
	assert_int_equal(result_counter(&lab.result, "arn_not_sent"), 0);
}

/* The adapted-flow channel is an additional VC, and contains only adapted packets. */
UNIT_TEST(only_adapted_packets_use_the_adapted_flow_channel)
{
	struct virtual_lab lab;
	uint64_t in_channel = 0;

	RUN(&lab, "routing.adaptive=adaptive-th", "routing.afi=true", "traffic[0].load=1%",
		"traffic[1].load=1%");
	assert_int_equal(lab.fabric->sw[0]->vcs, 2);
	for (uint32_t i = 0; i < lab.fabric->hosts; i++)
		in_channel += lab.fabric->host[i].nic.link.rx[1].received;
	assert_int_equal(in_channel, 0);
	virtual_lab_close(&lab);
	RUN(&lab, "routing.adaptive=oblivious", "routing.afi=true");
	for (uint32_t i = 0; i < lab.fabric->hosts; i++)
		in_channel += lab.fabric->host[i].nic.link.rx[1].received;
	assert_true(in_channel > 0);
	virtual_lab_close(&lab);
}

/* Once hosts stop sending, all buffers become empty. */
static void expect_all_arrived(const struct virtual_lab *lab)
{
	assert_int_equal(lab->result.packets.pending, 0);
	assert_int_equal(lab->result.messages.pending, 0);
	assert_int_equal(lab->result.packets.delivered, lab->result.packets.injected);
	expect_each_frame_once(lab->fabric);
	for (uint32_t at = 0; at < lab->fabric->switches; at++)
		assert_int_equal(switch_stored_packets(lab->fabric->sw[at]), 0);
}

/* Each mode runs with each scheme, with and without AFI, with random arrivals and messages of one
 * or several frames. */
UNIT_TEST(all_that_was_sent_arrives_once_and_in_order)
{
	static const char *const queuing[] = {
		"queuing=1q", "queuing=dbbm", "queuing=vftree", "queuing=flow2sl"};
	static const char *const message[] = {
		"traffic[0].message=100B", "traffic[0].message=1KiB", "traffic[0].message=5000B"};
	uint64_t overtaken = 0, held = 0, held_ns = 0;

	for (unsigned i = 0; i < 32; i++) {
		OWNED(virtual_lab) lab;
		char mode[64], seed[32];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i % 4]);
		snprintf(seed, sizeof(seed), "seed=%u", 100 + i);
		RUN(&lab, mode, seed, queuing[i / 4 % 4], message[i % 3],
			i / 4 % 4 == 0 ? "switch.vcs=1" : "switch.vcs=2",
			i / 16 == 0 ? "routing.afi=true" : "routing.afi=false",
			i / 2 % 2 == 0 ? "switch.credits=each" : "switch.credits=coalesced",
			"traffic[0].stop=60us", "traffic[1].stop=60us", "measure.duration=2ms");
		expect_all_arrived(&lab);
		overtaken += result_counter(&lab.result, "host_frames_overtaken");
		held += result_counter(&lab.result, "host_frames_reordered");
		held_ns += result_counter(&lab.result, "host_frames_held_ns");
		assert_true(result_counter(&lab.result, "host_frames_held_peak") <=
			    result_counter(&lab.result, "host_frames_reordered"));
	}
	assert_true(overtaken > 1000);
	assert_true(held > 1000);
	assert_true(held_ns > held);
}

/* There is space for only a few frames. Hosts wait until some frames have left, and nothing is
 * lost. */
UNIT_TEST(who_has_no_room_for_frames_that_wait_sends_later)
{
	for (unsigned i = 0; i < 8; i++) {
		OWNED(virtual_lab) lab;
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i % 4]);
		virtual_lab_open(&lab, tree,
			VIRTUAL_LAB_SET(mode, "routing.afi=true",
				i / 4 == 0 ? "switch.credits=each" : "switch.credits=coalesced",
				"traffic[0].stop=60us", "traffic[1].stop=60us",
				"measure.duration=4ms"));
		lab.fabric->pool.size = lab.fabric->hosts + 40;
		virtual_lab_run(&lab);
		assert_int_equal(lab.fabric->pool.used, 40); /* it was full */
		expect_all_arrived(&lab);
	}
}

/* Packets that a watchdog discards are given up, and the packets after them are delivered. */
UNIT_TEST(nobody_waits_for_what_the_watchdog_has_discarded)
{
	uint64_t dropped = 0;

	for (unsigned i = 0; i < 4; i++) {
		OWNED(virtual_lab) lab;
		char mode[64];

		snprintf(mode, sizeof(mode), "routing.adaptive=%s", modes[i]);
		virtual_lab_open(&lab, tree,
			VIRTUAL_LAB_SET(mode, "routing.afi=true", "watchdog=1us",
				"traffic[0].stop=100us", "traffic[1].stop=100us",
				"measure.duration=4ms"));
		virtual_lab_run(&lab);
		assert_int_equal(lab.result.packets.injected,
			lab.result.packets.delivered + lab.result.packets.dropped);
		assert_int_equal(lab.result.out_of_order, 0);
		expect_each_frame_once(lab.fabric);
		dropped += lab.result.packets.dropped;
	}
	assert_true(dropped > 10);
}

/* A stricter threshold marks more packets. Marks change nothing else. */
UNIT_TEST(packets_are_marked_above_the_threshold)
{
	static const char *const threshold[] = {
		"switch.fecn=0", "switch.fecn=1", "switch.fecn=8", "switch.fecn=15"};
	uint64_t marked[4], fingerprint = 0;

	for (unsigned i = 0; i < 4; i++) {
		OWNED(virtual_lab) lab;

		RUN(&lab, threshold[i]);
		marked[i] = i == 0 ? 0 : result_counter(&lab.result, "packets_marked");
		fingerprint = i == 0 ? lab.result.fingerprint : fingerprint;
		assert_int_equal(lab.result.fingerprint, fingerprint);
	}
	assert_true(marked[1] < marked[2]);
	assert_true(marked[2] < marked[3]);
}

UNIT_TEST(tables_without_alternatives_are_refused)
{
	virtual_lab_assert_refused(tree,
		VIRTUAL_LAB_SET("routing.algorithm=ud", "routing.adaptive=arn"),
		"test: routing.adaptive: arn has nothing to choose from, because "
		"routing.algorithm ud's tables have no alternative ports; use dmodk");
}
