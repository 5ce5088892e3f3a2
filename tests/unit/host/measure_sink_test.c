/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "host/measure_sink.h"

#include "traffic/synthetic.h"
#include "unit.h"

#define HOST 1

struct sender {
	struct measure_sink *sink;
	uint8_t payload[200];
	struct nic_delivery delivery;
	struct synthetic message;
	uint64_t wait_ns,
		late_ns; /* how long frames wait for earlier ones, and how late they arrive */
};

static void start(struct sender *sender)
{
	*sender = (struct sender){.sink = measure_sink_create(HOST, 4)};
	assert_non_null(sender->sink);
	sender->message = (struct synthetic){.source = 2, .destination = HOST};
	sender->delivery.source = 2;
}

static void deliver(struct sender *sender)
{
	measure_sink_watch(sender->sink, &sender->delivery);
	measure_sink_take(sender->sink, &sender->delivery);
}

/* A frame of a message that is generated at 1000 ns, injected at 2000, and arrives at 'ns'. */
static void frame(struct sender *sender, uint32_t sequence, uint32_t message, uint32_t offset,
	uint32_t bytes, uint32_t of, uint64_t ns)
{
	sender->message.message = message;
	sender->message.message_bytes = of;
	sender->message.generated_ns = 1000;
	synthetic_fill(&sender->message, offset, sender->payload, bytes);
	sender->delivery.first = offset == 0;
	sender->delivery.tail = offset + bytes == of;
	sender->delivery.message = message;
	sender->delivery.sequence = sequence;
	sender->delivery.offset = offset;
	sender->delivery.payload = sender->payload;
	sender->delivery.bytes = bytes;
	sender->delivery.injected_ns = 2000;
	sender->delivery.now = ns * PS_PER_NS;
	sender->delivery.arrived = (ns - sender->wait_ns) * PS_PER_NS;
	sender->delivery.arrived_due = sender->delivery.arrived - sender->late_ns * PS_PER_NS;
	deliver(sender);
}

UNIT_TEST(latencies_are_of_the_header_and_of_the_message)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 100, 150, 2030);
	frame(&sender, 1, 0, 100, 50, 150, 2050);
	assert_int_equal(sender.sink->network_ns.count, 2);
	assert_int_equal(sender.sink->network_ns.max, 50);
	assert_int_equal(sender.sink->total_ns.count, 1);
	assert_int_equal(sender.sink->total_ns.max, 1050);
	assert_int_equal(sender.sink->messages, 1);
	assert_int_equal(sender.sink->bytes, 150);
	assert_int_equal(sender.sink->altered, 0);
	measure_sink_destroy(sender.sink);
}

/* Injected at 2000 and due at 3000, so a lateness of up to 100 is within a tenth of 1000. */
UNIT_TEST(frames_within_a_tenth_of_the_paths_latency_are_counted)
{
	struct sender sender;

	start(&sender);
	for (unsigned i = 0; i < 3; i++) {
		sender.late_ns = (const uint64_t[]){0, 100, 101}[i];
		frame(&sender, i, i, 0, 20, 20, 3000 + sender.late_ns);
	}
	assert_int_equal(sender.sink->network_due_ns.count, 3);
	assert_int_equal(sender.sink->network_due_ns.max, 1000);
	assert_int_equal(sender.sink->within_tenth, 2);
	measure_sink_reset(sender.sink, 0);
	assert_int_equal(sender.sink->within_tenth, 0);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(network_latency_survives_the_wrap_of_the_senders_clock)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 20, 20, 0x100000000u + 2070);
	assert_int_equal(sender.sink->network_ns.max, 70);
	frame(&sender, 1, 1, 0, 20, 20, 1990); /* a receiver's clock that is behind */
	/* The loop did not run for 300 ms after it had read its clock. */
	frame(&sender, 2, 2, 0, 20, 20, 0x100000000u + 2000 - 300000000);
	assert_int_equal(sender.sink->network_ns.count, 3);
	assert_int_equal(sender.sink->network_ns.max, 70);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(a_source_with_an_unknown_clock_is_judged_but_has_no_latencies)
{
	const struct clock_offset unknown = {.known = false};
	struct sender sender;

	start(&sender);
	measure_sink_set_clock(sender.sink, 2, &unknown);
	frame(&sender, 0, 0, 0, 100, 150, 2030);
	frame(&sender, 1, 0, 100, 50, 150, 2050);
	/* A flow that restarts does not change the clock. */
	frame(&sender, 0, 1u << 16, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->network_ns.count, 0);
	assert_int_equal(sender.sink->total_ns.count, 0);
	assert_int_equal(sender.sink->measured_messages, 2);
	assert_int_equal(sender.sink->measured_bytes, 170);
	assert_int_equal(sender.sink->altered, 0);
	assert_int_equal(sender.sink->clocks.untimed, 3);
	assert_int_equal(sender.sink->clocks.timed, 0);
	sender.message.source = sender.delivery.source = 3;
	frame(&sender, 0, 0, 0, 20, 20, 2070);
	assert_int_equal(sender.sink->network_ns.max, 70);
	measure_sink_destroy(sender.sink);
}

/* The source's clock is 1700 ns ahead, and the frame arrives at 400 here. */
UNIT_TEST(stamps_of_another_clock_are_converted_and_the_worst_bound_is_kept)
{
	struct clock_offset offset = {.known = false};
	struct clock_sample sample = {
		.sent_ns = 100, .heard_ns = 1810, .answered_ns = 1810, .arrived_ns = 120};
	struct sender sender;

	start(&sender);
	measure_sink_set_clock(sender.sink, 2, &offset);
	clock_offset_forget(&offset);
	assert_int_equal(clock_offset_take(&offset, &sample), CLOCK_AGREES);
	frame(&sender, 0, 0, 0, 20, 20, 400);
	assert_in_range(sender.sink->network_ns.max, 98, 102);
	assert_in_range(sender.sink->total_ns.max, 1098, 1102);
	assert_in_range(sender.sink->clocks.bound_ns, 10, 15);
	/* Later, the clock is known less precisely. */
	frame(&sender, 1, 1, 0, 20, 20, 1000400);
	assert_in_range(sender.sink->clocks.bound_ns, 2010, 2016);
	assert_int_equal(sender.sink->clocks.timed, 2);
	assert_in_range(sender.sink->clocks.bounds_ns, 2020, 2031);
	measure_sink_reset(sender.sink, 0);
	assert_int_equal(sender.sink->clocks.timed, 0);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(what_comes_before_the_measurement_is_not_in_it)
{
	struct sender sender;

	start(&sender);
	measure_sink_reset(sender.sink, 5000 * PS_PER_NS);
	frame(&sender, 0, 0, 0, 20, 20, 4999);
	frame(&sender, 1, 1, 0, 20, 20, 5000);
	assert_int_equal(sender.sink->messages, 2);
	assert_int_equal(sender.sink->measured_messages, 1);
	assert_int_equal(sender.sink->measured_bytes, 20);
	assert_int_equal(sender.sink->total_ns.count, 1);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(a_missing_frame_is_lost)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 20, 20, 3000);
	frame(&sender, 3, 3, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->lost, 2);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(a_frame_that_comes_late_is_out_of_order_and_not_lost)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 20, 20, 3000);
	frame(&sender, 2, 2, 0, 20, 20, 3000);
	frame(&sender, 1, 1, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->lost, 0);
	assert_int_equal(sender.sink->out_of_order, 1);
	assert_int_equal(sender.sink->duplicated, 0);
	frame(&sender, 1, 1, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->out_of_order, 1);
	assert_int_equal(sender.sink->duplicated, 1);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(a_frame_that_comes_twice_is_duplicated)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 20, 20, 3000);
	frame(&sender, 1, 1, 0, 20, 20, 3000);
	frame(&sender, 0, 0, 0, 20, 20, 3000);
	frame(&sender, 1, 1, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->duplicated, 2);
	assert_int_equal(sender.sink->lost, 0);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(a_new_flow_begins_anew)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 20, 20, 3000);
	frame(&sender, 1, 1, 0, 20, 20, 3000);
	frame(&sender, 0, 0x10000, 0, 20, 20, 3000);
	frame(&sender, 1, 0x10001, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->lost + sender.sink->duplicated, 0);
	assert_int_equal(sender.sink->out_of_order, 0);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(altered_bytes_are_noticed_in_every_frame)
{
	for (unsigned which = 0; which < 3; which++) {
		struct sender sender;

		start(&sender);
		for (uint32_t i = 0; i < 3; i++) {
			frame(&sender, i, 0, 50 * i, 50, 150, 3000);
			assert_int_equal(sender.sink->altered, which < i);
			if (i != which)
				continue;
			sender.payload[49] ^= 1;
			measure_sink_take(sender.sink, &sender.delivery);
			assert_int_equal(sender.sink->altered, 1);
			break;
		}
		measure_sink_destroy(sender.sink);
	}
}

UNIT_TEST(a_message_of_another_length_than_it_says_is_altered)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 50, 150, 3000);
	frame(&sender, 1, 0, 50, 50, 150, 3000);
	assert_int_equal(sender.sink->altered, 0);
	sender.delivery.tail = true;
	measure_sink_take(sender.sink, &sender.delivery);
	assert_int_equal(sender.sink->altered, 1);
	measure_sink_destroy(sender.sink);
}

/* A message of two frames whose second arrives first, and a later one that has waited for both. */
UNIT_TEST(latencies_are_to_the_arrival_and_what_waited_is_known)
{
	struct sender sender;

	start(&sender);
	frame(&sender, 0, 0, 0, 100, 150, 3000);
	sender.late_ns = 100;
	sender.wait_ns = 500;
	frame(&sender, 1, 0, 100, 50, 150, 3000);
	sender.wait_ns = 300;
	frame(&sender, 2, 1, 0, 20, 20, 3000);
	assert_int_equal(sender.sink->network_ns.count, 3);
	assert_int_equal(sender.sink->network_ns.sum, 1000 + 500 + 700);
	assert_int_equal(sender.sink->total_ns.sum, 2000 + 1700);
	assert_int_equal(sender.sink->network_due_ns.sum, 1000 + 400 + 600);
	assert_int_equal(sender.sink->total_due_ns.sum, 2000 + 1600);
	assert_int_equal(sender.sink->waited.waited_ns.count, 2);
	assert_int_equal(sender.sink->waited.waited_ns.sum, 800);
	assert_int_equal(sender.sink->waited.network_arrived_ns.sum, 500 + 700);
	assert_int_equal(sender.sink->waited.network_released_ns.sum, 2 * 1000);
	assert_int_equal(sender.sink->waited.total_arrived_ns.sum, 1700);
	assert_int_equal(sender.sink->waited.total_released_ns.sum, 2000);
	measure_sink_reset(sender.sink, 0);
	assert_int_equal(sender.sink->waited.waited_ns.count, 0);
	measure_sink_destroy(sender.sink);
}

UNIT_TEST(entries_of_the_traffic_are_told_apart)
{
	struct measure_sink_flow by_source[4] = {{0}}, *const flow[2] = {NULL, by_source};
	struct sender sender;

	start(&sender);
	assert_int_equal(measure_sink_set_entries(sender.sink, 2, flow), 0);
	frame(&sender, 0, 0, 0, 20, 20, 2030);
	sender.message.entry = 1;
	frame(&sender, 1, 1, 0, 100, 150, 2040);
	frame(&sender, 2, 1, 100, 50, 150, 2050);
	assert_int_equal(sender.sink->altered, 0);
	assert_int_equal(sender.sink->network_ns.count, 3);
	assert_int_equal(sender.sink->entry[0].network_ns.max, 30);
	assert_int_equal(sender.sink->entry[0].messages, 1);
	assert_int_equal(sender.sink->entry[1].network_ns.count, 2);
	assert_int_equal(sender.sink->entry[1].total_ns.max, 1050);
	assert_int_equal(sender.sink->entry[1].bytes, 150);
	assert_int_equal(sender.sink->entry[1].frames, 2);
	assert_int_equal(by_source[2].messages, 1);
	assert_int_equal(by_source[2].last_ps, 2050 * PS_PER_NS);
	measure_sink_reset(sender.sink, 0);
	assert_int_equal(sender.sink->entry[1].total_ns.count, 0);
	assert_int_equal(sender.sink->entry[1].messages, 0);
	measure_sink_destroy(sender.sink);
}

/* All hosts of a loop share one row. A row for each host would take hosts x hosts. */
UNIT_TEST(sinks_may_share_the_counters_by_source)
{
	struct measure_sink_flow by_source[4] = {{0}}, *const flow[1] = {by_source};
	struct sender sender[2];

	for (unsigned i = 0; i < 2; i++) {
		start(&sender[i]);
		assert_int_equal(measure_sink_set_entries(sender[i].sink, 1, flow), 0);
		frame(&sender[i], 0, 0, 0, 20, 20, 2030 + i);
	}
	assert_int_equal(by_source[2].messages, 2);
	assert_int_equal(by_source[2].last_ps, 2031 * PS_PER_NS);
	measure_sink_reset(sender[0].sink, 0);
	assert_int_equal(by_source[2].messages, 2);
	for (unsigned i = 0; i < 2; i++)
		measure_sink_destroy(sender[i].sink);
}

/* A sender whose sink has this many entries, all of them without flows. */
static void start_with_entries(struct sender *sender, unsigned entries)
{
	static struct measure_sink_flow *const none[2];

	start(sender);
	assert_int_equal(measure_sink_set_entries(sender->sink, entries, none), 0);
}

UNIT_TEST(an_entry_that_the_run_does_not_have_counts_for_none)
{
	struct sender sender;

	start_with_entries(&sender, 1);
	sender.message.entry = 1;
	frame(&sender, 0, 0, 0, 20, 20, 2030);
	assert_int_equal(sender.sink->messages, 1);
	assert_int_equal(sender.sink->entry[0].messages, 0);
	measure_sink_destroy(sender.sink);
}

/* The sender has read a different run file. */
UNIT_TEST(a_prefix_with_an_entry_that_the_run_does_not_have_is_altered)
{
	struct sender sender;

	start_with_entries(&sender, 2);
	sender.message.entry = 1;
	frame(&sender, 0, 0, 0, 20, 20, 2030);
	assert_int_equal(sender.sink->altered, 0);
	sender.message.entry = 2;
	frame(&sender, 1, 1, 0, 20, 20, 2040);
	assert_int_equal(sender.sink->altered, 1);
	assert_int_equal(sender.sink->total_ns.count, 1);
	measure_sink_destroy(sender.sink);
}
