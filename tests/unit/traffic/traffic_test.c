/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <math.h>

#include "traffic_bench.h"
#include "wire/frame.h"

#define HOSTS 10

static struct traffic_config config(const char *pattern)
{
	return traffic_at_half_load(pattern, 3, HOSTS, 1000);
}

/* Returns the next message as soon as it is due. */
static struct traffic_message next(struct traffic *traffic, weft_time *now)
{
	struct traffic_message message;

	while (!traffic_poll(traffic, *now, &message))
		*now += 100 * PS_PER_NS;
	traffic_accept(traffic);
	return message;
}

UNIT_TEST(uniform_reaches_all_others_equally_often)
{
	struct traffic_config from = config("uniform");
	OWNED(traffic) *traffic = start(&from);
	unsigned reached[HOSTS] = {0};
	weft_time now = 0;

	for (unsigned i = 0; i < 90000; i++)
		reached[next(traffic, &now).destination]++;
	for (unsigned i = 0; i < HOSTS; i++) {
		if (i == 3)
			assert_int_equal(reached[i], 0);
		else
			assert_in_range(reached[i], 9600, 10400);
	}
}

UNIT_TEST(hotspot_reaches_its_targets_only_and_never_itself)
{
	static const uint16_t targets[] = {7, 3, 5};
	struct traffic_config from = config("hotspot");
	unsigned reached[HOSTS] = {0};
	OWNED(traffic) *traffic;
	weft_time now = 0;

	from.targets = targets;
	from.targets_count = 3;
	traffic = start(&from);
	for (unsigned i = 0; i < 10000; i++)
		reached[next(traffic, &now).destination]++;
	assert_in_range(reached[7], 4800, 5200);
	assert_int_equal(reached[7] + reached[5], 10000);
}

UNIT_TEST(a_hotspot_that_is_only_itself_is_silent)
{
	static const uint16_t targets[] = {3};
	struct traffic_config from = config("hotspot");
	struct traffic_message message;
	OWNED(traffic) *traffic;

	from.targets = targets;
	from.targets_count = 1;
	traffic = start(&from);
	assert_false(traffic_poll(traffic, PS_PER_S, &message));
	assert_true(traffic_finished(traffic, PS_PER_S));
}

UNIT_TEST(a_given_permutation_is_followed)
{
	uint16_t to[HOSTS];
	struct traffic_config from = config("permutation");
	struct traffic_message message;
	struct traffic *traffic;
	weft_time now = 0;

	for (uint16_t i = 0; i < HOSTS; i++)
		to[i] = i;
	to[3] = 8;
	from.permutation = to;
	traffic = start(&from);
	assert_int_equal(next(traffic, &now).destination, 8);
	traffic_destroy(traffic);
	from.host = 4;
	traffic = start(&from);
	assert_false(traffic_poll(traffic, PS_PER_S, &message));
	traffic_destroy(traffic);
}

/* Bytes on the wire of the messages due in a time, as a share of the link's capacity. */
static double load_of(const struct traffic_config *from, weft_time duration)
{
	OWNED(traffic) *traffic = start(from);
	struct traffic_message message;
	double wire = 0;

	while (traffic_poll(traffic, duration, &message)) {
		uint32_t frames = (message.bytes - 1) / from->frame_bytes + 1;

		wire += message.bytes +
			frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD +
					 (double)from->mean_route / TRAFFIC_ROUTE_BYTE);
		traffic_accept(traffic);
	}
	return wire * 8 / ((double)duration * 1e-12 * (double)from->rate_bps);
}

/* For the length of each message, with any warm-up before it. */
UNIT_TEST(generated_bytes_on_the_wire_are_those_of_each_frame)
{
	static const uint32_t lengths[][2] = {
		{32, 5000}, {5000, 32}, {1000, 1001}, {500, 500}, {32, 5000}, {500, 500}};

	for (unsigned i = 0; i < 6; i++) {
		struct traffic_config from = config("uniform");
		struct traffic_message message;
		OWNED(traffic) *traffic;
		uint64_t wire = 0, frames = 0, each;

		from.value.message_bytes = lengths[i][0];
		from.value.other_message_bytes = lengths[i][1];
		from.value.other_share_ppm = 300000;
		from.value.message_max_bytes = i < 4 ? 0 : lengths[i][0] + 3000;
		from.value.arrivals = ARRIVALS_POISSON;
		traffic = start(&from);
		for (weft_time now = 0; now < PS_PER_MS; now += PS_PER_US) {
			while (traffic_poll(traffic, now, &message)) {
				each = (message.bytes - 1) / from.frame_bytes + 1;
				frames += each;
				wire += message.bytes +
					each * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD + 4);
				traffic_accept(traffic);
			}
			assert_int_equal(traffic_generated_wire_bytes(traffic), wire);
			assert_int_equal(traffic_generated_frames(traffic), frames);
		}
		assert_true(wire > 100000);
	}
}

UNIT_TEST(load_is_a_share_of_what_the_link_carries)
{
	struct traffic_config from = config("uniform");

	for (uint32_t load = 100000; load <= 1000000; load += 300000) {
		from.value.load_ppm = load;
		assert_true(fabs(load_of(&from, 20 * PS_PER_MS) - load / 1e6) < 0.001);
	}
	from.mean_route = 31 * TRAFFIC_ROUTE_BYTE / 4;
	from.value.message_bytes = 3500; /* four frames */
	assert_true(fabs(load_of(&from, 20 * PS_PER_MS) - 1) < 0.001);
	from.value.message_bytes = 32;
	from.value.other_message_bytes = 512;
	from.value.other_share_ppm = 300000;
	from.value.arrivals = ARRIVALS_POISSON;
	assert_true(fabs(load_of(&from, 50 * PS_PER_MS) - 1) < 0.01);
}

UNIT_TEST(bimodal_lengths_have_their_shares)
{
	struct traffic_config from = config("uniform");
	unsigned long_ones = 0;
	OWNED(traffic) *traffic;
	weft_time now = 0;

	from.value.message_bytes = 32;
	from.value.other_message_bytes = 512;
	from.value.other_share_ppm = 300000;
	traffic = start(&from);
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t bytes = next(traffic, &now).bytes;

		assert_true(bytes == 32 || bytes == 512);
		long_ones += bytes == 512;
	}
	assert_in_range(long_ones, 29400, 30600);
}

UNIT_TEST(drawn_lengths_lie_between_the_two_and_are_equally_likely)
{
	struct traffic_config from = config("uniform");
	unsigned of[3] = {0};
	OWNED(traffic) *traffic;
	weft_time now = 0;

	from.value.message_bytes = 32;
	from.value.message_max_bytes = 34;
	traffic = start(&from);
	for (unsigned i = 0; i < 30000; i++) {
		uint32_t bytes = next(traffic, &now).bytes;

		assert_in_range(bytes, 32, 34);
		of[bytes - 32]++;
	}
	for (unsigned i = 0; i < 3; i++)
		assert_in_range(of[i], 9700, 10300);
}

/* Mean time from the start of a message to the start of the next one. */
static weft_time distance_of(const struct traffic_config *from)
{
	OWNED(traffic) *traffic = start(from);
	weft_time first = 0, last;

	next(traffic, &first);
	last = first;
	for (unsigned i = 0; i < 1000; i++)
		next(traffic, &last);
	return (last - first) / 1000;
}

/* Long messages take longer, so the bytes per time match the load. */
UNIT_TEST(the_load_of_drawn_lengths_is_a_share_of_the_link)
{
	struct traffic_config from = config("uniform");

	from.value.load_ppm = 700000;
	from.value.message_bytes = 16;
	from.value.message_max_bytes = 5000;
	assert_true(fabs(load_of(&from, 50 * PS_PER_MS) - 0.7) < 0.003);
	from.value.other_message_bytes = 6000;
	from.value.other_message_max_bytes = 9000;
	from.value.other_share_ppm = 300000;
	assert_true(fabs(load_of(&from, 50 * PS_PER_MS) - 0.7) < 0.003);
}

/* The first messages of many seeds are spread over the interval of messages of the mean length, not
 * over that of the shortest or the longest messages. */
UNIT_TEST(the_first_of_drawn_lengths_is_due_within_their_mean_distance)
{
	struct traffic_config from = config("uniform");
	struct traffic_message message;
	weft_time mean, last = 0;

	from.value.message_bytes = from.value.message_max_bytes = 5000;
	mean = distance_of(&from);
	from.value.message_bytes = 1000;
	from.value.message_max_bytes = 9000;
	for (from.seed = 0; from.seed < 200; from.seed++) {
		OWNED(traffic) *traffic = start(&from);
		weft_time now = 0;

		while (!traffic_poll(traffic, now, &message))
			now += mean / 100;
		last = now > last ? now : last;
	}
	assert_in_range(last, mean * 9 / 10, mean + mean / 100);
}

UNIT_TEST(nothing_is_due_before_start_or_after_stop)
{
	struct traffic_config from = config("uniform");
	struct traffic_message message;
	OWNED(traffic) *traffic;
	unsigned count = 0;

	from.start_ps = 5 * PS_PER_MS;
	from.stop_ps = 6 * PS_PER_MS;
	traffic = start(&from);
	assert_false(traffic_poll(traffic, 5 * PS_PER_MS - 1, &message));
	assert_false(traffic_finished(traffic, 5 * PS_PER_MS));
	while (traffic_poll(traffic, PS_PER_S, &message)) {
		assert_true(message.generated_ps >= from.start_ps);
		assert_true(message.generated_ps < from.stop_ps);
		traffic_accept(traffic);
		count++;
	}
	/* 1 ms at 10 Gbps and 50 %: 625,000 bytes in frames of 1,074. */
	assert_in_range(count, 581, 583);
	assert_true(traffic_finished(traffic, PS_PER_S));
}

UNIT_TEST(a_message_stays_due_until_it_is_accepted)
{
	struct traffic_config from = config("uniform");
	OWNED(traffic) *traffic = start(&from);
	struct traffic_message a, b;

	assert_true(traffic_poll(traffic, PS_PER_MS, &a));
	assert_true(traffic_poll(traffic, 2 * PS_PER_MS, &b));
	assert_memory_equal(&a, &b, sizeof(a));
	traffic_accept(traffic);
	assert_true(traffic_poll(traffic, 2 * PS_PER_MS, &b));
	assert_true(b.generated_ps > a.generated_ps);
}

UNIT_TEST(what_is_not_accepted_counts_as_generated)
{
	struct traffic_config from = config("uniform");
	OWNED(traffic) *traffic = start(&from);
	const struct traffic_counters *counters = traffic_counters(traffic);
	struct traffic_message message;

	for (unsigned i = 0; i < 100; i++) {
		assert_true(traffic_poll(traffic, PS_PER_MS, &message));
		traffic_accept(traffic);
	}
	assert_true(traffic_poll(traffic, PS_PER_MS, &message));
	assert_in_range(counters->generated_messages, 581, 583);
	traffic_abandon(traffic, PS_PER_MS);
	assert_int_equal(counters->accepted_messages, 100);
	assert_in_range(counters->generated_messages, 581, 583);
	assert_int_equal(counters->generated_bytes, counters->generated_messages * 1000);
	assert_false(traffic_poll(traffic, PS_PER_S, &message));
	assert_true(traffic_finished(traffic, PS_PER_S));
}

UNIT_TEST(what_is_counted_is_what_is_handed_out)
{
	struct traffic_config from = config("uniform");
	const struct traffic_counters *counters;
	struct traffic_message message;
	OWNED(traffic) *traffic;

	from.value.arrivals = ARRIVALS_POISSON;
	from.value.other_message_bytes = 64;
	from.value.other_share_ppm = 500000;
	traffic = start(&from);
	counters = traffic_counters(traffic);
	for (weft_time now = 0; now < 10 * PS_PER_MS; now += 10 * PS_PER_US)
		while (traffic_poll(traffic, now, &message))
			traffic_accept(traffic);
	assert_true(counters->accepted_messages > 1000);
	assert_int_equal(counters->generated_messages, counters->accepted_messages);
	assert_int_equal(counters->generated_bytes, counters->accepted_bytes);
}

/* All kinds of sources: messages taken ahead of the clock equal those that would have been polled,
 * and every count at some time gives the same number. */
UNIT_TEST(messages_taken_ahead_are_those_that_are_polled)
{
	static const enum arrivals_kind kinds[] = {
		ARRIVALS_CONSTANT, ARRIVALS_POISSON, ARRIVALS_UNIFORM, ARRIVALS_BURSTY};

	for (unsigned run = 0; run < 8; run++) {
		struct traffic_config from = config(run % 2 == 0 ? "uniform" : "all-to-all");
		OWNED(traffic) *polled, *taken;
		struct traffic_message a;
		struct traffic_taken b = {.next_ps = 0};

		from.value.arrivals = kinds[run / 2];
		from.value.on_ps = from.value.off_ps = 5 * PS_PER_US;
		from.value.other_share_ppm = run % 2 * 300000;
		from.value.other_message_bytes = 5000;
		from.stop_ps = 2 * PS_PER_MS;
		polled = start(&from);
		taken = start(&from);
		assert_false(traffic_take(taken, 0, &b));
		b.next_destination = traffic_next_destination(taken);
		for (weft_time now = 0; now < from.stop_ps; now += 7 * PS_PER_US) {
			while (traffic_poll(polled, now, &a)) {
				traffic_accept(polled);
				assert_int_equal(a.generated_ps, traffic_due_of(taken, 1));
				assert_int_equal(a.generated_ps, b.next_ps);
				assert_int_equal(a.destination, b.next_destination);
				assert_true(traffic_take(taken, now, &b));
				assert_int_equal(a.destination, b.message.destination);
				assert_int_equal(a.bytes, b.message.bytes);
				assert_int_equal(a.generated_ps, b.message.generated_ps);
			}
			assert_false(traffic_take(taken, now, &b));
			assert_int_equal(b.next_ps, traffic_due(taken));
			if (now % (21 * PS_PER_US) == 0)
				traffic_count(taken, now);
		}
		traffic_abandon(polled, from.stop_ps);
		traffic_abandon(taken, from.stop_ps);
		assert_memory_equal(traffic_counters(polled), traffic_counters(taken),
			sizeof(struct traffic_counters));
	}
}

/* A caller that takes messages for a while and then polls gets what it would have polled, whether
 * or not messages were counted in the meantime or had to wait. */
UNIT_TEST(who_turns_to_polling_misses_nothing)
{
	for (unsigned run = 0; run < 8; run++) {
		struct traffic_config from = config("uniform");
		weft_time turn = 50 * PS_PER_US, behind = run / 4 * 20 * PS_PER_US;
		OWNED(traffic) *polled, *taken;
		struct traffic_message a, b;
		struct traffic_taken took;

		from.value.arrivals = run % 2 == 0 ? ARRIVALS_CONSTANT : ARRIVALS_POISSON;
		from.value.other_share_ppm = 300000;
		from.value.other_message_bytes = 5000;
		polled = start(&from);
		taken = start(&from);
		while (traffic_poll(polled, turn - behind, &a)) {
			traffic_accept(polled);
			assert_true(traffic_take(taken, turn - behind, &took));
		}
		if (run / 2 % 2 == 0)
			traffic_count(taken, turn);
		traffic_turn_to_polling(taken);
		for (weft_time now = turn; now < 20 * turn; now += PS_PER_US) {
			while (traffic_poll(polled, now, &a)) {
				assert_true(traffic_poll(taken, now, &b));
				assert_int_equal(a.destination, b.destination);
				assert_int_equal(a.bytes, b.bytes);
				assert_int_equal(a.generated_ps, b.generated_ps);
				traffic_accept(polled);
				traffic_accept(taken);
			}
			assert_false(traffic_poll(taken, now, &b));
			assert_memory_equal(traffic_counters(polled), traffic_counters(taken),
				sizeof(struct traffic_counters));
		}
		assert_true(traffic_counters(taken)->accepted_messages > 100);
	}
}

UNIT_TEST(what_is_not_taken_counts_as_generated_too)
{
	struct traffic_config from = config("uniform");
	OWNED(traffic) *polled = start(&from), *taken = start(&from);
	struct traffic_message message;
	weft_time now = PS_PER_MS;
	struct traffic_taken one;

	assert_true(traffic_take(taken, now, &one));
	traffic_poll(polled, now, &message);
	traffic_count(taken, now);
	assert_int_equal(traffic_counters(taken)->generated_messages,
		traffic_counters(polled)->generated_messages);
	assert_true(traffic_counters(taken)->generated_messages > 100);
	assert_true(traffic_take(taken, now, &one));
	traffic_count(taken, now);
	assert_int_equal(traffic_counters(taken)->generated_messages,
		traffic_counters(polled)->generated_messages);
	assert_int_equal(traffic_counters(taken)->accepted_messages, 2);
}

UNIT_TEST(the_same_seed_gives_the_same_messages_and_another_one_others)
{
	struct traffic_config from = config("uniform");
	OWNED(traffic) *a, *b, *c;
	unsigned same = 0;

	from.value.arrivals = ARRIVALS_POISSON;
	a = start(&from);
	b = start(&from);
	from.index = 1;
	c = start(&from);
	for (unsigned i = 0; i < 1000; i++) {
		weft_time now_a = 0, now_b = 0, now_c = 0;
		struct traffic_message x = next(a, &now_a), y = next(b, &now_b);

		assert_int_equal(x.destination, y.destination);
		assert_int_equal(x.generated_ps, y.generated_ps);
		same += next(c, &now_c).destination == x.destination;
	}
	assert_in_range(same, 50, 200);
}

UNIT_TEST(what_makes_no_sense_is_refused_with_a_reason)
{
	static const uint16_t targets[] = {HOSTS};
	struct traffic_config good = config("uniform"), bad;
	struct error error;

#define REFUSED(change)                            \
	bad = good;                                \
	change;                                    \
	error.text[0] = 0;                         \
	assert_null(traffic_create(&bad, &error)); \
	assert_true(strlen(error.text) > 10)
	REFUSED(bad.pattern = &traffic_goal);
	REFUSED(bad.pattern = &traffic_hotspot);
	REFUSED(bad.pattern = &traffic_permutation);
	REFUSED(bad.pattern = &traffic_hotspot; bad.targets = targets; bad.targets_count = 1);
	REFUSED(bad.host = HOSTS);
	REFUSED(bad.host = 0; bad.hosts = 1);
	REFUSED(bad.value.load_ppm = 1000001);
	REFUSED(bad.value.message_bytes = 15);
	REFUSED(bad.value.other_share_ppm = 1);
	REFUSED(bad.rate_bps = 0);
	REFUSED(bad.rate_bps = 1000; bad.value.load_ppm = 1; bad.value.message_bytes = 1 << 20);
	REFUSED(bad.frame_bytes = 0);
#undef REFUSED
}

#define LANES 3

struct lanes {
	struct queuing queuing;
	struct traffic *whole, *lane[LANES];
};

static void start_lanes(struct lanes *lanes)
{
	struct traffic_config from = config("uniform");

	lanes->queuing = (struct queuing){.scheme = &queuing_dbbm, .queues = LANES, .hosts = HOSTS};
	from.value.other_message_bytes = 300;
	from.value.other_share_ppm = 400000;
	from.stop_ps = 2 * PS_PER_MS;
	lanes->whole = start(&from);
	from.queuing = &lanes->queuing;
	for (from.lane = 0; from.lane < LANES; from.lane++)
		lanes->lane[from.lane] = start(&from);
}

static void stop_lanes(struct lanes *lanes)
{
	for (unsigned i = 0; i < LANES; i++)
		traffic_destroy(lanes->lane[i]);
	traffic_destroy(lanes->whole);
}

UNIT_TEST(lanes_hand_out_the_messages_of_one_source_each_its_own)
{
	struct lanes lanes;
	weft_time now[1 + LANES] = {0};
	uint64_t generated = 0;

	start_lanes(&lanes);
	for (unsigned i = 0; i < 1000; i++) {
		struct traffic_message wanted = next(lanes.whole, &now[LANES]);
		unsigned lane = wanted.destination % LANES;
		struct traffic_message found = next(lanes.lane[lane], &now[lane]);

		assert_int_equal(found.destination, wanted.destination);
		assert_int_equal(found.bytes, wanted.bytes);
		assert_int_equal(found.generated_ps, wanted.generated_ps);
	}
	for (unsigned i = 0; i < LANES; i++) {
		traffic_count(lanes.lane[i], now[LANES]);
		generated += traffic_counters(lanes.lane[i])->generated_bytes;
	}
	traffic_count(lanes.whole, now[LANES]);
	assert_int_equal(generated, traffic_counters(lanes.whole)->generated_bytes);
	stop_lanes(&lanes);
}

UNIT_TEST(a_lane_that_is_not_taken_from_holds_nobody_up)
{
	struct traffic_message message;
	struct lanes lanes;
	unsigned taken = 0;

	start_lanes(&lanes);
	for (weft_time now = 0; now <= 2 * PS_PER_MS; now += PS_PER_US) {
		if (traffic_poll(lanes.lane[1], now, &message))
			assert_int_equal(message.destination % LANES, 1);
		while (traffic_poll(lanes.lane[2], now, &message)) {
			traffic_accept(lanes.lane[2]);
			taken++;
		}
	}
	assert_in_range(taken, 500, 1000);
	assert_true(traffic_finished(lanes.lane[2], 2 * PS_PER_MS));
	assert_false(traffic_finished(lanes.lane[1], 2 * PS_PER_MS));
	stop_lanes(&lanes);
}
