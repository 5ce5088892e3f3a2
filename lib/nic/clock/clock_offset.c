/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "clock_offset.h"

#include <string.h>

#define ONE           (INT64_C(1) << 32) /* rate of 1 */
#define FRACTION(ppm) (ONE * (ppm) / 1000000)
#define RATE_MAX      FRACTION(CLOCK_RATE_MAX_PPM)
#define RATE_CHANGE   FRACTION(CLOCK_RATE_CHANGE_PPM)
#define RATE_LEAST_NS \
	1000000 /* two intervals closer than this contain no information about the rate */
#define RATE_MOST_NS ((CLOCK_MARKS + 1) * CLOCK_MARK_NS)
#define READ_TRIES   1000

/* Returns ns * rate, rounded down. */
static int64_t drift_down(int64_t ns, int64_t rate)
{
	return (int64_t)(((__int128)ns * rate) >> 32);
}

static int64_t drift_up(int64_t ns, int64_t rate)
{
	return -drift_down(ns, -rate);
}

static int64_t divide_down(__int128 a, int64_t b)
{
	return (int64_t)(a / b - (a % b < 0));
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Writes the line between two increments of its version, which is odd in between. */
static void publish(struct clock_offset *offset, bool usable)
{
	struct clock_line *line = &offset->line;
	const struct clock_interval *now = &offset->now;

	__atomic_store_n(&offset->version, offset->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	line->usable = usable;
	line->at_ns = now->at_ns;
	line->middle_ns = now->low_ns + (now->high_ns - now->low_ns) / 2;
	line->half_ns = (uint64_t)(now->high_ns - now->low_ns + 1) / 2;
	line->rate = (int32_t)((offset->rate_low + offset->rate_high) >> 1);
	line->half_rate = (uint32_t)((offset->rate_high - offset->rate_low + 2) >> 1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&offset->version, offset->version + 1, __ATOMIC_RELEASE);
}

void clock_offset_forget(struct clock_offset *offset)
{
	offset->known = false;
	offset->marks = offset->doubts = 0;
	offset->rate_low = -RATE_MAX;
	offset->rate_high = RATE_MAX;
	publish(offset, false);
}

void clock_offset_doubt(struct clock_offset *offset)
{
	publish(offset, false);
}

/* Computes the interval of an exchange at the arrival of its answer. Question and answer were sent
 * at most a round trip earlier, and the offset drifted in the meantime. An answer may have been
 * sent almost a nanosecond before its stamp, at the start of the nanosecond in which the question
 * arrived. Returns false if a clock was set in the meantime or the stamps are invalid. */
static bool interval_of(const struct clock_offset *offset, const struct clock_sample *sample,
	struct clock_interval *interval)
{
	int64_t trip = sample->arrived_ns - sample->sent_ns;

	if (trip < 0 || sample->answered_ns < sample->heard_ns || sample->heard_ns < 0 ||
		sample->answered_ns >= CLOCK_STAMP_MAX)
		return false;
	interval->at_ns = sample->arrived_ns;
	interval->low_ns = sample->answered_ns - 1 - sample->arrived_ns +
			   drift_down(trip, min(offset->rate_low, 0));
	interval->high_ns =
		sample->heard_ns - sample->sent_ns + drift_up(trip, max(offset->rate_high, 0));
	return interval->low_ns <= interval->high_ns;
}

/* Returns the interval of the last exchange, extended by the drift since then. */
static struct clock_interval carry(const struct clock_offset *offset, int64_t to_ns)
{
	int64_t age = to_ns - offset->now.at_ns;

	return (struct clock_interval){.at_ns = to_ns,
		.low_ns = offset->now.low_ns + drift_down(age, offset->rate_low),
		.high_ns = offset->now.high_ns + drift_up(age, offset->rate_high)};
}

static bool intersect(struct clock_interval *a, const struct clock_interval *b)
{
	a->low_ns = max(a->low_ns, b->low_ns);
	a->high_ns = min(a->high_ns, b->high_ns);
	return a->low_ns <= a->high_ns;
}

/* Bounds the rate with the stored intervals. Returns false if they contradict each other. */
static bool bound_rate(struct clock_offset *offset)
{
	const struct clock_interval *now = &offset->now;

	offset->rate_low = -RATE_MAX;
	offset->rate_high = RATE_MAX;
	for (unsigned i = 0; i < offset->marks; i++) {
		const struct clock_interval *mark = &offset->mark[i];
		int64_t age = now->at_ns - mark->at_ns;
		__int128 low = (__int128)(now->low_ns - mark->high_ns) * ONE;
		__int128 high = (__int128)(now->high_ns - mark->low_ns) * ONE;

		if (age < RATE_LEAST_NS || age > RATE_MOST_NS)
			continue;
		offset->rate_low = max(offset->rate_low, divide_down(low, age) - RATE_CHANGE);
		offset->rate_high = min(offset->rate_high, -divide_down(-high, age) + RATE_CHANGE);
	}
	return offset->rate_low <= offset->rate_high;
}

static int64_t width(const struct clock_interval *interval)
{
	return interval->high_ns - interval->low_ns;
}

/* Stores the interval if enough time has passed, or if it is much narrower than the last one. */
static void remember(struct clock_offset *offset)
{
	struct clock_interval *last = offset->marks > 0 ? &offset->mark[offset->marks - 1] : NULL;

	if (last != NULL && width(&offset->now) <= width(last) / 2) {
		*last = offset->now;
		return;
	}
	if (last != NULL && offset->now.at_ns - last->at_ns < CLOCK_MARK_NS)
		return;
	if (offset->marks == CLOCK_MARKS)
		memmove(&offset->mark[0], &offset->mark[1],
			--offset->marks * sizeof(offset->mark[0]));
	offset->mark[offset->marks++] = offset->now;
}

/* Starts an estimate from a single exchange. */
static void begin(struct clock_offset *offset, const struct clock_interval *first)
{
	offset->known = true;
	offset->now = *first;
	offset->marks = 0;
	offset->rate_low = -RATE_MAX;
	offset->rate_high = RATE_MAX;
	remember(offset);
}

static enum clock_verdict begin_after_step(
	struct clock_offset *offset, const struct clock_interval *first)
{
	begin(offset, first);
	offset->doubts = CLOCK_TRUST;
	offset->line.steps++;
	publish(offset, false);
	return CLOCK_STEPPED;
}

enum clock_verdict clock_offset_take(struct clock_offset *offset, const struct clock_sample *sample)
{
	struct clock_interval found, now;

	if (offset->known && sample->arrived_ns - offset->now.at_ns > CLOCK_FORGET_NS)
		clock_offset_forget(offset);
	if (!interval_of(offset, sample, &found))
		return CLOCK_SENSELESS;
	offset->line.samples++;
	if (!offset->known) {
		begin(offset, &found);
		publish(offset, true);
		return CLOCK_AGREES;
	}
	now = carry(offset, found.at_ns);
	if (!intersect(&now, &found))
		return begin_after_step(offset, &found);
	offset->now = now;
	if (!bound_rate(offset))
		return begin_after_step(offset, &found);
	remember(offset);
	offset->doubts -= offset->doubts > 0;
	publish(offset, offset->doubts == 0);
	return CLOCK_AGREES;
}

void clock_offset_read(const struct clock_offset *offset, struct clock_line *line)
{
	for (unsigned i = 0; i < READ_TRIES; i++) {
		uint32_t before = __atomic_load_n(&offset->version, __ATOMIC_ACQUIRE);

		*line = offset->line;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if ((before & 1) == 0 &&
			__atomic_load_n(&offset->version, __ATOMIC_RELAXED) == before)
			return;
	}
	line->usable = false;
}
