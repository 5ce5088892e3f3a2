/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Estimates the offset of another machine's clock from the local one, with an error bound that
 * holds as long as neither clock is set. A step smaller than the variation of the delays is
 * detected only when an exchange contradicts the earlier interval.
 *
 * An exchange has four time stamps: a question leaves this host (sent) and arrives at the peer
 * (heard); the answer leaves the peer (answered) and arrives here (arrived). No frame arrives
 * before it was sent, whatever its path and waiting times. The offset, remote minus local clock, is
 * therefore
 *
 * between answered - arrived and heard - sent
 *
 * however unequal the two delays are. The interval is as wide as the round trip minus the time at
 * the peer. The intervals of all exchanges hold, so they are intersected. The shortest delay in
 * each direction determines the result (minimum filter); the two need not belong to the same
 * exchange. Between exchanges, the interval grows by the uncertainty of the drift.
 *
 * The drift is bounded in the same manner: the offset's intervals at two times bound its mean rate
 * between them. Two bounds are assumed rather than measured: the rates of clocks differ by at most
 * CLOCK_RATE_MAX, and this difference changes by at most CLOCK_RATE_CHANGE while an old interval is
 * stored. An empty intersection proves that a clock was set or violates these bounds. It counts as
 * a step, and the estimate restarts. It is not used until CLOCK_TRUST exchanges agree.
 *
 * For the bound to hold, a departure stamp must not be later than the frame (for an answer, than
 * the end of its nanosecond), and an arrival stamp must not be earlier. The driver therefore reads
 * its clock before sending and after receiving.
 *
 * Integers only, in nanoseconds; no clock, no allocation. One thread updates; any other thread may
 * call clock_offset_read(). */

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_RATE_MAX_PPM    2000 /* 200 for crystals, but frequencies are measured over 20 ms */
#define CLOCK_RATE_CHANGE_PPM 5    /* 1 for the crystals of a machine that is warming up */
#define CLOCK_TRUST           3
#define CLOCK_MARKS           4
#define CLOCK_MARK_NS         (16 * INT64_C(1000000000)) /* minimum time between stored intervals */
/* Time since the last exchange after which the estimate is not used, or restarts. */
#define CLOCK_USED_NS   (2 * INT64_C(1000000000))
#define CLOCK_FORGET_NS (60 * INT64_C(1000000000))
/* Upper limit of time stamps, which prevents overflow of their differences. */
#define CLOCK_STAMP_MAX (INT64_C(1) << 61)

struct clock_interval {
	int64_t at_ns; /* local clock */
	int64_t low_ns, high_ns;
};

/* Estimate at 'at_ns' and its rate of change. Rates are fractions of 2^32. */
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
	int64_t sent_ns, arrived_ns;   /* local clock */
	int64_t heard_ns, answered_ns; /* remote clock */
};

struct clock_offset {
	struct clock_line line;
	struct clock_interval now;               /* at the last exchange */
	struct clock_interval mark[CLOCK_MARKS]; /* earlier intervals, oldest first */
	int64_t rate_low, rate_high;             /* fractions of 2^32 */
	uint8_t marks;
	uint8_t doubts; /* exchanges that must still agree before the estimate is used */
	bool known;
	uint32_t version; /* version of 'line'; odd during an update */
};

/* Discards the estimate but not the counts, because the peer may have a different clock now. */
void clock_offset_forget(struct clock_offset *offset);

/* Disables the estimate until the next exchange, which may be with a different clock. */
void clock_offset_doubt(struct clock_offset *offset);

enum clock_verdict { CLOCK_AGREES, CLOCK_STEPPED, CLOCK_SENSELESS };

/* Adds an exchange; 'arrived_ns' must not decrease. CLOCK_STEPPED: the estimate restarted with this
 * exchange. CLOCK_SENSELESS: the exchange contradicts itself and was ignored. */
enum clock_verdict clock_offset_take(
	struct clock_offset *offset, const struct clock_sample *sample);

/* Computes remote minus local clock at local time 'now_ns', and the maximum error. Returns false if
 * unknown. Call in the updating thread, or on a copy of the line. */
static inline bool clock_line_at(
	const struct clock_line *line, int64_t now_ns, int64_t *offset_ns, uint64_t *bound_ns)
{
	int64_t age = now_ns - line->at_ns;
	uint64_t far = (uint64_t)(age < 0 ? -age : age);

	if (!line->usable || far > (uint64_t)CLOCK_USED_NS)
		return false;
	/* The two shifts and a stamp are each truncated by less than one. */
	*offset_ns = line->middle_ns + ((age * line->rate) >> 32);
	*bound_ns = line->half_ns + ((far * line->half_rate) >> 32) + 3;
	return true;
}

/* Copies the line, for threads other than the updating one. */
void clock_offset_read(const struct clock_offset *offset, struct clock_line *line);
