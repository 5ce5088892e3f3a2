/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrival_stamps.h"

#include <rte_atomic.h>
#include <time.h>

#include "port/port_ethdev.h"

#define MEASURE_NS  20000000
#define TRIES       8
#define CONVERSIONS 3

/* A reading of the NIC's clock between two readings of the loop's clock. */
struct reading {
	weft_time before, after;
	uint64_t ticks;
};

/* Without the fences, a processor could read its counter while still waiting for loaded data. */
static bool read_once(const struct arrival_stamps *stamps, struct reading *reading)
{
	reading->before = clock_now(stamps->clock);
	rte_rmb();
	if (!port_stamps_now(stamps->port, &reading->ticks))
		return false;
	rte_rmb();
	reading->after = clock_now(stamps->clock);
	return true;
}

/* Returns the shortest of several readings, because longer ones were interrupted. */
static bool read_exactly(const struct arrival_stamps *stamps, struct reading *best)
{
	struct reading reading;
	bool any = false;

	for (unsigned i = 0; i < TRIES; i++) {
		if (!read_once(stamps, &reading))
			continue;
		if (!any || reading.after - reading.before < best->after - best->before)
			*best = reading;
		any = true;
	}
	return any;
}

/* Returns the NIC clock's frequency from two readings; 0 if it stands still or is too slow. */
static uint64_t measure_hz(
	const struct arrival_stamps *stamps, struct reading *first, struct reading *last)
{
	const struct timespec wait = {.tv_nsec = MEASURE_NS};
	uint64_t hz;

	if (!read_exactly(stamps, first))
		return 0;
	nanosleep(&wait, NULL);
	if (!read_exactly(stamps, last) || last->ticks <= first->ticks ||
		last->after <= first->after)
		return 0;
	hz = (uint64_t)((unsigned __int128)(last->ticks - first->ticks) * PS_PER_S /
			(last->after - first->after));
	return hz >= CLOCK_HZ_MIN ? hz : 0;
}

static int64_t nic_ns(const struct arrival_stamps *stamps, uint64_t ticks)
{
	return (int64_t)(clock_time_at(&stamps->scale, ticks) / PS_PER_NS);
}

/* Allows for truncation: the NIC's time to ticks, the result to nanoseconds. */
static void compare(struct arrival_stamps *stamps, const struct reading *reading)
{
	const struct clock_sample sample = {
		.sent_ns = (int64_t)(reading->before / PS_PER_NS) - stamps->tick_ns - 1,
		.arrived_ns = (int64_t)(reading->after / PS_PER_NS) + 1,
		.heard_ns = nic_ns(stamps, reading->ticks),
		.answered_ns = nic_ns(stamps, reading->ticks)};

	clock_offset_take(&stamps->nic, &sample);
	stamps->next = reading->after + ARRIVAL_STAMPS_LOOK_PS;
}

void arrival_stamps_begin(
	struct arrival_stamps *stamps, const struct port *port, const struct clock *clock)
{
	struct reading first, last;
	uint64_t hz;

	*stamps = (struct arrival_stamps){.port = port, .clock = clock};
	hz = port_has_stamps(port) ? measure_hz(stamps, &first, &last) : 0;
	if (hz == 0) {
		stamps->port = NULL;
		return;
	}
	/* Earlier than any stamp. */
	clock_init(&stamps->scale, hz, first.ticks - hz);
	stamps->tick_ns = (int64_t)(1000000000 / hz) + 1;
	clock_offset_forget(&stamps->nic);
	/* Compare now: when the first frame arrives, another thread may be reading the NIC's clock.
	 */
	compare(stamps, &last);
}

/* Compares the clocks if the last reading is too old. */
static void compare_if_due(struct arrival_stamps *stamps)
{
	struct reading reading;

	if (clock_now(stamps->clock) >= stamps->next && read_once(stamps, &reading))
		compare(stamps, &reading);
}

/* Returns the latest time on the loop's clock at which the NIC's clock can have shown 'shown_ns',
 * from the drift known at 'about_ns'. Returns false if unknown. */
static bool convert(const struct arrival_stamps *stamps, int64_t shown_ns, int64_t about_ns,
	int64_t *latest_ns, uint64_t *bound_ns)
{
	int64_t offset_ns;

	if (!clock_line_at(&stamps->nic.line, about_ns, &offset_ns, bound_ns))
		return false;
	*latest_ns = shown_ns + stamps->tick_ns + 1 - offset_ns + (int64_t)*bound_ns;
	return true;
}

/* Returns false if the stamp does not come from the clock that the driver reads, or that clock's
 * offset is unknown. */
static bool latest_of(
	const struct arrival_stamps *stamps, uint64_t ticks, int64_t now_ns, int64_t *latest_ns)
{
	int64_t shown_ns = nic_ns(stamps, ticks);
	uint64_t bound_ns;

	*latest_ns = now_ns;
	/* Each pass uses the drift at a better estimate of the time. */
	for (unsigned i = 0; i < CONVERSIONS; i++)
		if (!convert(stamps, shown_ns, *latest_ns, latest_ns, &bound_ns))
			return false;
	return *latest_ns >= now_ns - ARRIVAL_STAMPS_AGE_NS &&
	       *latest_ns - 2 * (int64_t)bound_ns - 2 * stamps->tick_ns <= now_ns + 1;
}

/* Returns the time at which the frame arrived, at most 'now'. */
static weft_time time_of(struct arrival_stamps *stamps, uint64_t ticks, weft_time now)
{
	int64_t now_ns = (int64_t)(now / PS_PER_NS), latest_ns;
	bool good = latest_of(stamps, ticks, now_ns, &latest_ns);

	stamps->used += good;
	stamps->refused += !good;
	return good && latest_ns < now_ns ? (weft_time)latest_ns * PS_PER_NS : now;
}

weft_time arrival_stamps_time(struct arrival_stamps *stamps, const struct rte_mbuf *mbuf)
{
	uint64_t ticks;
	weft_time time;
	bool stamped = stamps->port != NULL && port_stamp_of(stamps->port, mbuf, &ticks);

	if (stamped)
		compare_if_due(stamps);
	time = clock_now(stamps->clock);
	if (stamped)
		time = time_of(stamps, ticks, time);
	/* Frames are read in order of arrival. */
	stamps->last = time > stamps->last ? time : stamps->last;
	return stamps->last;
}
