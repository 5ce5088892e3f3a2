/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* One data plane, two clocks: what each switch of a virtual fat tree got, in the order in which it
 * got it, given to the same switch under the poll driver. Every frame leaves by the same port, in
 * the same place, at the same time and with the same headers. The cases at the end show that this
 * would not be so if the arbiter or the credits were others. */

#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_mempool.h>

#include "driver_replay.h"
#include "eal_tests.h"
#include "virtual_lab.h"
#include "virtual_trace.h"

#define SWITCHES 6
#define PORTS    4
/* Three frames of 512 bytes and headers. */
#define BUFFER_BLOCKS 27

static const char scenario[] = "weft: run/1\n"
			       "topology: \"rlft:ports=4,stages=2\"\n"
			       "clock: virtual\n"
			       "link: {rate: 10Gbps, delay: 30ns}\n"
			       "switch: {switching: cut-through, buffer: 1728B, mtu: 512B}\n"
			       "nic: {mtu: 512B}\n"
			       "routing: {algorithm: dmodk, mode: source}\n"
			       "measure: {warmup: 0ms, duration: 1ms, sample: 1ms}\n"
			       "traffic:\n"
			       "  - {pattern: uniform, from: all, load: 100%, message: 512B}\n";

static struct rte_mempool *pool;

struct recording {
	struct replay_list at[SWITCHES];
	const struct topology *topology;
	uint64_t stalls;
	struct virtual_lab lab; /* whose routes are the packets' */
};

/* A frame that leaves keeps its wire busy for a time that the link gives. */
static void record_sent(struct recording *recording, const struct virtual_trace_record *record)
{
	const struct topology_link *link = topology_link_at(recording->topology, record->at);
	struct replay_list *list = &recording->at[record->at.device];
	struct replay_event free_again = {.port = record->at.port, .kind = REPLAY_WIRE_FREE};

	replay_add_sent(list, record->now, record->at.port, record->packet, record->extension);
	free_again.at = record->now +
			(record->packet->bytes + FRAME_WIRE_OVERHEAD) * ps_per_byte(link->rate_bps);
	replay_add_event(list, &free_again);
}

/* A virtual_trace_fn. */
static void record(void *ctx, const struct virtual_trace_record *record)
{
	struct recording *recording = ctx;
	struct replay_event event = {.at = record->now, .port = record->at.port};

	if (record->at.kind == DEVICE_HOST)
		return;
	if (record->out) {
		if (record->packet != NULL)
			record_sent(recording, record);
		return;
	}
	event.kind = record->packet != NULL ? REPLAY_ARRIVAL : REPLAY_CREDIT;
	if (record->extension != NULL)
		event.extension = *record->extension;
	if (record->packet != NULL)
		event.packet = *record->packet;
	else
		event.credit = *record->credit;
	replay_add_event(&recording->at[record->at.device], &event);
}

/* Events after the end are not in the record: wires that become free then. */
static void cut_end(struct replay_list *list, weft_time end)
{
	while (list->events > 0 && list->event[list->events - 1].at >= end)
		list->events--;
}

static void make_recording(struct recording *recording, const char *const *set, unsigned sets)
{
	memset(recording, 0, sizeof(*recording));
	virtual_lab_open(&recording->lab, scenario, set, sets);
	recording->topology = recording->lab.topology;
	assert_int_equal(recording->topology->switches, SWITCHES);
	virtual_fabric_trace(recording->lab.fabric, record, recording);
	virtual_lab_run(&recording->lab);
	recording->stalls = result_counter(&recording->lab.result, "stall_credit");
	for (unsigned i = 0; i < SWITCHES; i++) {
		replay_sort(&recording->at[i]);
		cut_end(&recording->at[i], recording->lab.config->measure.duration_ps);
	}
}

static void free_recording(struct recording *recording)
{
	for (unsigned i = 0; i < SWITCHES; i++)
		replay_free(&recording->at[i]);
	virtual_lab_close(&recording->lab);
}

static struct replay_options plain_options(void)
{
	return (struct replay_options){
		.sw = {.device = 1,
			.ports = PORTS,
			.vcs = 1,
			.voq = true,
			.buffer_blocks = BUFFER_BLOCKS,
			.watchdog_ps = WEFT_TIME_NEVER,
			.control_reserve = 1},
		.far_blocks = BUFFER_BLOCKS,
		.pool = pool,
	};
}

/* Sums over all switches of a replay. */
struct comparison {
	unsigned different; /* ports */
	char first[64];     /* such port */
	uint64_t discards, frames;
};

static struct comparison compare(
	const struct recording *recording, const struct replay_options *options)
{
	struct comparison result = {0};

	for (unsigned i = 0; i < SWITCHES; i++) {
		struct replay_list played = {0};

		result.discards += replay_run(options, &recording->at[i], &played);
		result.frames += played.sents;
		for (unsigned port = 0; port < PORTS; port++) {
			int which = replay_difference(&recording->at[i], &played, port);

			if (which >= 0 && result.different++ == 0)
				snprintf(result.first, sizeof(result.first),
					"s%u:%u: frame %d is another one", i, port, which);
		}
		replay_free(&played);
	}
	return result;
}

static void assert_same_order(
	const struct replay_options *options, const char *const *set, unsigned sets)
{
	struct comparison result;
	struct recording recording;

	make_recording(&recording, set, sets);
	result = compare(&recording, options);
	if (result.different != 0)
		fail_msg("%s", result.first);
	assert_int_equal(result.discards, 0);
	assert_true(result.frames > 10000);
	assert_true(recording.stalls > 2000); /* credits are tight */
	free_recording(&recording);
}

static void assert_noticed(const struct replay_options *options)
{
	struct recording recording;

	make_recording(&recording, NULL, 0);
	assert_true(compare(&recording, options).different > 0);
	free_recording(&recording);
}

#define ASSERT_SAME_ORDER(options, ...)                                          \
	assert_same_order(options, (const char *const[]){"seed=1", __VA_ARGS__}, \
		sizeof((const char *const[]){"seed=1", __VA_ARGS__}) / sizeof(const char *))

UNIT_TEST(every_port_sends_the_same_frames_in_the_same_order_at_both_clocks)
{
	const struct replay_options options = plain_options();

	ASSERT_SAME_ORDER(&options, "seed=1");
	ASSERT_SAME_ORDER(&options, "seed=2");
}

UNIT_TEST(with_store_and_forward_too)
{
	const struct replay_options options = plain_options();

	ASSERT_SAME_ORDER(&options, "switch.switching=store-and-forward");
}

UNIT_TEST(with_frames_of_two_lengths_and_a_routing_delay_too)
{
	const struct replay_options options = plain_options();

	ASSERT_SAME_ORDER(&options, "traffic[0].message=700B", "switch.routing-delay=70ns");
}

/* Three buffers of three frames at each port, messages to them by destination. */
UNIT_TEST(with_three_virtual_channels_too)
{
	struct replay_options options = plain_options();

	options.sw.vcs = 3;
	options.sw.buffer_blocks = 3 * BUFFER_BLOCKS;
	for (uint8_t sl = 0; sl < 3; sl++)
		options.sw.sl_to_vc[sl] = sl;
	ASSERT_SAME_ORDER(&options, "switch.vcs=3", "switch.buffer=5184B", "queuing=dbbm");
}

/* Waiting times and contending flows are in the frames that are compared. */
#define CONTENTION_US 2

static struct contention_config contention_of(enum contention_scope scope)
{
	return (struct contention_config){.threshold_ps = CONTENTION_US * PS_PER_US,
		.flows = CN_FLOWS_MAX,
		.scope = scope,
		.in_frame = true,
		.extension = poll_switch_extension};
}

#define PR_DRB                                                                   \
	"nic.control=pr-drb", "routing.algorithm=msp", "routing.alternatives=2", \
		"switch.contention=2us", "switch.buffer=1920B"
#define PR_DRB_BLOCKS 30

static struct replay_options options_of(const struct contention_config *contention)
{
	struct replay_options options = plain_options();

	options.sw.buffer_blocks = options.far_blocks = PR_DRB_BLOCKS;
	options.contention = contention;
	return options;
}

UNIT_TEST(with_waiting_times_and_contending_flows_too)
{
	const struct contention_config output = contention_of(CONTENTION_OUTPUT);
	const struct contention_config buffer = contention_of(CONTENTION_BUFFER);
	struct replay_options options = options_of(&output);

	ASSERT_SAME_ORDER(&options, PR_DRB);
	options.contention = &buffer;
	ASSERT_SAME_ORDER(&options, PR_DRB, "switch.contending=buffer");
}

/* The comparison can fail. */

UNIT_TEST(other_rules_of_contention_are_noticed)
{
	static const char *const set[] = {PR_DRB};
	struct contention_config wrong[4];

	for (unsigned i = 0; i < 4; i++)
		wrong[i] = contention_of(CONTENTION_OUTPUT);
	wrong[0].scope = CONTENTION_BUFFER;
	wrong[1].flows = 1;
	wrong[2].threshold_ps = 2 * CONTENTION_US * PS_PER_US;
	wrong[3].in_frame = false;
	for (unsigned i = 0; i < 4; i++) {
		const struct replay_options options = options_of(&wrong[i]);
		struct recording recording;

		make_recording(&recording, set, sizeof(set) / sizeof(set[0]));
		assert_true(compare(&recording, &options).different > 0);
		free_recording(&recording);
	}
}

UNIT_TEST(a_round_robin_that_goes_on_elsewhere_is_noticed)
{
	struct replay_options options = plain_options();

	options.moved_on = 2;
	assert_noticed(&options);
}

UNIT_TEST(credits_that_are_ignored_are_noticed)
{
	struct replay_options options = plain_options();

	options.ignore_credits = true;
	assert_noticed(&options);
}

UNIT_TEST(a_single_queue_for_each_input_is_noticed)
{
	struct replay_options options = plain_options();

	options.sw.voq = false;
	assert_noticed(&options);
}

int main(void)
{
	char name[] = "driver-order-test";

	return run_with_eal(name, 2047, &pool);
}
