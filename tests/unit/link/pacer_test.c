/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link/pacer.h"

#include "base/rng.h"
#include "unit.h"

#define GBPS UINT64_C(1000000000)

UNIT_TEST(the_usual_rates_are_exact)
{
	static const struct {
		uint64_t gbps, ps;
	} rates[] = {{8000, 1}, {100, 80}, {40, 200}, {25, 320}, {10, 800}, {1, 8000}};

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		assert_int_equal(
			bytes_ps(1000, byte_time_of(rates[i].gbps * GBPS)), 1000 * rates[i].ps);
}

/* From 1 kbps to 100 Tbps, after each frame. */
UNIT_TEST(frames_take_their_exact_time_rounded_up)
{
	static const uint64_t rates[] = {1000, 56 * GBPS, 2880 * GBPS, 99999 * GBPS, 100000 * GBPS};
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t bytes = 0, ps = 0, exact;
		uint16_t rest = WIRE_REST;

		for (unsigned frame = 0; frame < 10000; frame++) {
			uint32_t next = 40 + (uint32_t)rng_below(&rng, 9000);

			bytes += next;
			ps += wire_takes(next, byte_time_of(rates[i]), &rest);
			exact = (uint64_t)(((unsigned __int128)bytes * 8 * PS_PER_S + rates[i] -
						   1) /
					   rates[i]);
			assert_in_range(ps, exact, exact + exact / 40000 + 1);
		}
	}
}

/* Otherwise, a rate that is displayed and set again would fall each time. */
UNIT_TEST(the_rate_of_a_time_gives_that_time_back)
{
	static const uint64_t rates[] = {3, 7, 14, 30, 56, 100};

	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t time = byte_time_of(rates[i] * GBPS);

		assert_int_equal(byte_time_of(rate_of_time(time)), time);
	}
	assert_int_equal(rate_of_time(byte_time_of(0)), 0);
}

static weft_time send(struct pacer *pacer, weft_time ready, weft_time now, uint32_t bytes)
{
	return pacer_send(pacer, pacer_begin(pacer, ready, now), bytes);
}

UNIT_TEST(an_unlimited_link_is_always_free)
{
	struct pacer pacer;

	pacer_init(&pacer, 0, 0);
	for (unsigned i = 0; i < 10; i++) {
		assert_true(pacer_ready(&pacer, 1000));
		assert_int_equal(send(&pacer, 1000, 1000, 9000), 1000);
	}
}

UNIT_TEST(the_transmitter_is_busy_until_the_last_bit_has_left)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, 0);
	assert_int_equal(send(&pacer, 5000, 5000, 100), 5000 + 100 * 800);
	assert_false(pacer_ready(&pacer, 5000 + 100 * 800 - 1));
	assert_true(pacer_ready(&pacer, 5000 + 100 * 800));
}

UNIT_TEST(a_frame_that_came_just_now_begins_now_however_long_the_wire_was_idle)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	send(&pacer, PS_PER_S, PS_PER_S, 64);
	assert_int_equal(pacer_begin(&pacer, 2 * PS_PER_S, 2 * PS_PER_S), 2 * PS_PER_S);
}

UNIT_TEST(a_frame_begins_when_it_was_ready_though_the_loop_came_later)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	assert_int_equal(pacer_begin(&pacer, PS_PER_S, PS_PER_S + 7000), PS_PER_S);
	assert_int_equal(pacer.moved, 0);
}

UNIT_TEST(what_is_older_than_the_bound_moves_up_and_counts_as_late)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, 1000);
	assert_int_equal(pacer_begin(&pacer, PS_PER_S, PS_PER_S + 5000), PS_PER_S + 4000);
	assert_int_equal(pacer.moved, 1);
	assert_int_equal(pacer.moved_ps, 4000);
	assert_int_equal(pacer.moved_max_ps, 4000);
}

/* A loop that polls at random times, rarely enough to miss many, still fills the link. */
UNIT_TEST(the_long_term_rate_is_exact_for_a_loop_that_can_catch_up)
{
	const weft_time bound = 20 * PS_PER_US, end = 100 * PS_PER_MS;
	weft_time now = bound, start = now;
	uint64_t bytes = 0;
	struct pacer pacer;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	pacer_init(&pacer, 10 * GBPS, bound);
	for (; now < end; now += 1 + rng_below(&rng, bound / 2))
		while (pacer_ready(&pacer, now)) {
			uint32_t length = 64 + (uint32_t)rng_below(&rng, 1437);

			send(&pacer, start, now, length);
			bytes += length;
		}
	assert_in_range(bytes * 800, end - start - bound, end - start + 1500 * 800);
	assert_int_equal(pacer.moved, 0);
}

/* Frames that become ready at random times, and a loop that polls at other times. */
UNIT_TEST(no_transmission_begins_early_and_no_window_carries_more_than_the_rate)
{
	enum { SENDS = 2000 };
	const weft_time bound = 5 * PS_PER_US;
	static weft_time begin[SENDS], end[SENDS];
	weft_time now = bound, ready = 0;
	struct pacer pacer;
	struct rng rng;

	rng_init(&rng, 2, 0, 0);
	pacer_init(&pacer, 10 * GBPS, bound);
	for (unsigned i = 0; i < SENDS; i++) {
		ready += rng_below(&rng, 3 * 1000 * 800);
		while (ready > now || !pacer_ready(&pacer, now))
			now += rng_below(&rng, 3 * bound);
		begin[i] = pacer_begin(&pacer, ready, now);
		end[i] = pacer_send(&pacer, begin[i], 64 + (uint32_t)rng_below(&rng, 1437));
		assert_true(begin[i] >= ready && begin[i] <= now);
		assert_true(i == 0 || begin[i] >= end[i - 1]);
	}
	assert_true(pacer.moved > 0 && pacer.moved < SENDS);
}

UNIT_TEST(the_loops_own_frame_takes_its_time_from_what_was_ready_before)
{
	struct pacer pacer;
	weft_time own;

	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	own = pacer_send_own(&pacer, PS_PER_S, PS_PER_S, 100);
	assert_int_equal(own, PS_PER_S);
	/* It collides with the loop's own frame, and the next one is delayed instead. */
	assert_int_equal(pacer_begin(&pacer, PS_PER_S - 1000, PS_PER_S), PS_PER_S - 1000);
	assert_int_equal(pacer_send(&pacer, PS_PER_S - 1000, 100), PS_PER_S - 1000 + 100 * 800);
	assert_int_equal(pacer_begin(&pacer, 0, PS_PER_S), PS_PER_S - 1000 + 2 * 100 * 800);
}

UNIT_TEST(the_loops_own_frame_waits_for_a_busy_wire)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	send(&pacer, PS_PER_S, PS_PER_S, 1000);
	assert_int_equal(
		pacer_send_own(&pacer, PS_PER_S + 5, PS_PER_S + 5, 100), PS_PER_S + 1000 * 800);
	assert_int_equal(pacer_begin(&pacer, 0, PS_PER_S), PS_PER_S + 1100 * 800);
}

/* Frames that the loop sent long ago do not delay others on an idle wire. */
UNIT_TEST(the_loops_own_frame_is_forgotten_when_the_wire_was_free_after_it)
{
	struct pacer pacer;

	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	pacer_send_own(&pacer, PS_PER_S, PS_PER_S, 100);
	send(&pacer, 2 * PS_PER_S, 2 * PS_PER_S, 100);
	assert_int_equal(pacer.free_at, 2 * PS_PER_S + 100 * 800);
}

/* Frames that were ready before the loop's time, and the loop's own frames among them. */
UNIT_TEST(own_frames_exceed_no_window_by_more_than_a_frame)
{
	enum { SENDS = 1500, OWN_BYTES = 100, LONGEST = 1500 };
	static weft_time begin[SENDS], end[SENDS];
	weft_time now = PS_PER_MS, ready = now;
	struct pacer pacer;
	struct rng rng;

	rng_init(&rng, 3, 0, 0);
	pacer_init(&pacer, 10 * GBPS, PS_PER_MS);
	for (unsigned i = 0; i < SENDS; i++) {
		uint32_t bytes = 64 + (uint32_t)rng_below(&rng, LONGEST - 64);

		if (rng_below(&rng, 5) == 0) {
			begin[i] = pacer_send_own(&pacer, now, now, OWN_BYTES);
			end[i] = begin[i] + OWN_BYTES * 800;
			continue;
		}
		while (ready > now || !pacer_ready(&pacer, now))
			now += rng_below(&rng, 40 * PS_PER_US);
		begin[i] = pacer_begin(&pacer, ready, now);
		end[i] = pacer_send(&pacer, begin[i], bytes);
		ready += rng_below(&rng, 2 * LONGEST * 800);
	}
	for (unsigned from = 0; from < SENDS; from++)
		for (unsigned to = 0; to < SENDS; to++) {
			weft_time sum = 0;

			if (to % 50 != from % 50 || end[to] <= begin[from])
				continue;
			for (unsigned i = 0; i < SENDS; i++)
				if (begin[i] >= begin[from] && end[i] <= end[to])
					sum += end[i] - begin[i];
			assert_true(sum <= end[to] - begin[from] + LONGEST * 800);
		}
}
