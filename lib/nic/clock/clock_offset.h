/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The offset of another machine's clock against this one's, with a bound that is never exceeded
 * while neither clock is set: a step smaller than the variation of the delays is noticed only once
 * an exchange contradicts the earlier interval.
 *
 * An exchange has four time stamps: a question leaves here (sent) and arrives there (heard), the
 * answer leaves there (answered) and arrives here (arrived). No frame arrives before it was sent,
 * whatever path it took and however long it waited. So the offset, remote minus local clock, lies
 *
 * between answered - arrived and heard - sent
 *
 * however unequal the two delays are. The interval is as wide as the round trip without the time at
 * the other end. The intervals of all exchanges hold, so they are intersected: the shortest delays
 * in either direction decide (the minimum filter), and need not belong to one exchange. Between
 * exchanges an interval grows by the uncertainty of the drift.
 *
 * The drift is bounded likewise: two intervals of the offset at two times bound its mean rate in
 * between. Two bounds are assumed, not measured: clocks differ by at most CLOCK_RATE_MAX, and their
 * rate changes by at most CLOCK_RATE_CHANGE while an old interval is remembered. An empty
 * intersection proves that a clock was set or violates these bounds: it counts as a step, and the
 * estimate starts again. It is not used before CLOCK_TRUST exchanges agree.
 *
 * For the bound to hold, a departure stamp must not be later than the frame (than the end of its
 * nanosecond, for an answer), and an arrival stamp not earlier: the driver reads its clock before
 * it sends and after it has received.
 *
 * Integers only, nanoseconds; no clock, no allocation. One thread updates; clock_offset_read() is
 * for any other. */

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_RATE_MAX_PPM    2000 /* 200 for crystals, but frequencies are measured in 20 ms */
#define CLOCK_RATE_CHANGE_PPM 5    /* 1 for the crystals of a machine that is warming up */
#define CLOCK_TRUST           3
#define CLOCK_MARKS           4
#define CLOCK_MARK_NS         (16 * INT64_C(1000000000)) /* between intervals to remember */
/* After the last exchange: the estimate is not used, or starts again. */
#define CLOCK_USED_NS   (2 * INT64_C(1000000000))
#define CLOCK_FORGET_NS (60 * INT64_C(1000000000))
/* Time stamps are below this, so that no difference overflows. */
#define CLOCK_STAMP_MAX (INT64_C(1) << 61)

struct clock_interval {
	int64_t at_ns; /* on the local clock */
	int64_t low_ns, high_ns;
};

/* The estimate at 'at_ns' and its rate of change. Rates are fractions of 2^32. */
struct clock_line {
	int64_t at_ns;
	int64_t middle_ns;
	uint64_t half_ns;
	int32_t rate;
	uint32_t half_rate;
	bool usable;
	uint32_t samples, steps;
};

struct clock_sample {
	int64_t sent_ns, arrived_ns;   /* local */
	int64_t heard_ns, answered_ns; /* remote */
};

struct clock_offset {
	struct clock_line line;
	struct clock_interval now;               /* at the last exchange */
	struct clock_interval mark[CLOCK_MARKS]; /* earlier, the oldest first */
	int64_t rate_low, rate_high;             /* fractions of 2^32 */
	uint8_t marks;
	uint8_t doubts; /* exchanges that must agree before it is used */
	bool known;
	uint32_t version; /* version of 'line', odd while it changes */
};

/* Forgets everything except the counts: the peer may now have another clock. */
void clock_offset_forget(struct clock_offset *offset);

/* Not used before the next exchange, which may be with another clock. */
void clock_offset_doubt(struct clock_offset *offset);

enum clock_verdict { CLOCK_AGREES, CLOCK_STEPPED, CLOCK_SENSELESS };

/* Takes an exchange; 'arrived_ns' never decreases. Stepped: the estimate started again with it.
 * Senseless: it contradicts itself, and nothing changed. */
enum clock_verdict clock_offset_take(
	struct clock_offset *offset, const struct clock_sample *sample);

/* Remote minus local clock when the local one shows 'now_ns', and the maximum error. Returns false
 * if unknown. Call it in the updating thread, or on a copy. */
static inline bool clock_line_at(
	const struct clock_line *line, int64_t now_ns, int64_t *offset_ns, uint64_t *bound_ns)
{
	int64_t age = now_ns - line->at_ns;
	uint64_t far = (uint64_t)(age < 0 ? -age : age);

	if (!line->usable || far > (uint64_t)CLOCK_USED_NS)
		return false;
	/* The two shifts and a stamp each truncate by less than one. */
	*offset_ns = line->middle_ns + ((age * line->rate) >> 32);
	*bound_ns = line->half_ns + ((far * line->half_rate) >> 32) + 3;
	return true;
}

/* A copy of the line, for threads other than the updating one. */
void clock_offset_read(const struct clock_offset *offset, struct clock_line *line);
