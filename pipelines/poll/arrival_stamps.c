/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrival_stamps.h"

#include <time.h>

#include "port_ethdev.h"

#define MEASURE_NS 20000000
#define TRIES      8

/* The NIC's clock was read between two times of the loop's. */
struct reading {
	weft_time before, after;
	uint64_t ticks;
};

static bool read_once(const struct arrival_stamps *stamps, struct reading *reading)
{
	reading->before = clock_now(stamps->clock);
	if (!port_stamps_now(stamps->port, &reading->ticks))
		return false;
	reading->after = clock_now(stamps->clock);
	return true;
}

/* The shortest of some tries: the others were interrupted. */
static bool read_exactly(const struct arrival_stamps *stamps, struct reading *best)
{
	struct reading reading;

	if (!read_once(stamps, best))
		return false;
	for (unsigned i = 1; i < TRIES; i++)
		if (read_once(stamps, &reading) &&
			reading.after - reading.before < best->after - best->before)
			*best = reading;
	return true;
}

/* Of the NIC's clock; 0: it does not count, or too slowly. */
static uint64_t measure_hz(const struct arrival_stamps *stamps, uint64_t *ticks)
{
	const struct timespec wait = {.tv_nsec = MEASURE_NS};
	struct reading first, last;
	uint64_t hz;

	if (!read_exactly(stamps, &first))
		return 0;
	nanosleep(&wait, NULL);
	if (!read_exactly(stamps, &last) || last.ticks <= first.ticks || last.after <= first.after)
		return 0;
	hz = (uint64_t)((unsigned __int128)(last.ticks - first.ticks) * PS_PER_S /
			(last.after - first.after));
	*ticks = first.ticks;
	return hz >= CLOCK_HZ_MIN ? hz : 0;
}

void arrival_stamps_begin(
	struct arrival_stamps *stamps, const struct port *port, const struct clock *clock)
{
	uint64_t hz, ticks = 0;

	*stamps = (struct arrival_stamps){.port = port, .clock = clock};
	hz = port_has_stamps(port) ? measure_hz(stamps, &ticks) : 0;
	if (hz == 0) {
		stamps->port = NULL;
		return;
	}
	/* Before anything that will be stamped. */
	clock_init(&stamps->scale, hz, ticks - hz);
	clock_offset_forget(&stamps->nic);
}

static int64_t nic_ns(const struct arrival_stamps *stamps, uint64_t ticks)
{
	return (int64_t)(clock_time_at(&stamps->scale, ticks) / PS_PER_NS);
}

/* Compares the clocks, now and then. */
static void look(struct arrival_stamps *stamps)
{
	struct reading reading;
	struct clock_sample sample;

	if (clock_now(stamps->clock) < stamps->next || !read_once(stamps, &reading))
		return;
	/* Times are cut off to whole nanoseconds. */
	sample = (struct clock_sample){.sent_ns = (int64_t)(reading.before / PS_PER_NS) - 1,
		.arrived_ns = (int64_t)(reading.after / PS_PER_NS) + 1,
		.heard_ns = nic_ns(stamps, reading.ticks),
		.answered_ns = nic_ns(stamps, reading.ticks)};
	clock_offset_take(&stamps->nic, &sample);
	/* The first readings say nothing of the drift. */
	stamps->next = stamps->nic.line.usable ? reading.after + ARRIVAL_STAMPS_LOOK_PS : 0;
}

/* The latest time of the loop's clock at which the NIC's may have shown this; 'about' is near it.
 * False: not known. */
static bool convert(const struct arrival_stamps *stamps, int64_t nic_shows_ns, int64_t about_ns,
	int64_t *latest_ns, uint64_t *bound_ns)
{
	int64_t offset_ns;

	if (!clock_line_at(&stamps->nic.line, about_ns, &offset_ns, bound_ns))
		return false;
	*latest_ns = nic_shows_ns - offset_ns + (int64_t)*bound_ns + 1;
	return true;
}

/* 'now', or when the frame arrived before that. */
static weft_time time_of(struct arrival_stamps *stamps, uint64_t ticks, weft_time now)
{
	int64_t now_ns = (int64_t)(now / PS_PER_NS), shown_ns = nic_ns(stamps, ticks), latest_ns;
	uint64_t bound_ns;

	if (!convert(stamps, shown_ns, now_ns, &latest_ns, &bound_ns))
		return now;
	/* The second time with the drift since then. */
	if (latest_ns - 2 * (int64_t)bound_ns > now_ns + 1 ||
		latest_ns < now_ns - ARRIVAL_STAMPS_AGE_NS ||
		!convert(stamps, shown_ns, latest_ns, &latest_ns, &bound_ns)) {
		stamps->refused++;
		return now;
	}
	stamps->used++;
	return latest_ns < now_ns ? (weft_time)latest_ns * PS_PER_NS : now;
}

weft_time arrival_stamps_time(struct arrival_stamps *stamps, const struct rte_mbuf *mbuf)
{
	uint64_t ticks;
	weft_time now;

	if (stamps->port == NULL || !port_stamp_of(stamps->port, mbuf, &ticks))
		return clock_now(stamps->clock);
	look(stamps);
	now = time_of(stamps, ticks, clock_now(stamps->clock));
	/* No frame arrives before the one that was read before it. */
	stamps->last = now > stamps->last ? now : stamps->last;
	return stamps->last;
}
