/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The real clock: the time-stamp counter as weft_time (picoseconds since an origin). Uses an
 * integer multiply and shift in 128 bits, so errors do not accumulate: a reading is exact to within
 * 1 ps and 2^-32 ps per cycle. As monotonic as the counter (invariant and synchronous on every x86
 * server of the last decade).
 *
 * Processes of one lab share frequency, origin and dilation (clock_format(), clock_parse()),
 * so that their times are comparable on one machine. Constant after creation, so any thread may
 * read it.
 *
 * A clock dilated by N shows the fabric's time, which advances by 1 s in N s of real time.
 * Everything that reads the clock is slowed down with it. Intervals measured by the kernel are in
 * real time: clock_span() converts an interval of the fabric's time to real time, clock_share() a
 * real interval to the fabric's time. */

#include <stdint.h>
#include <time.h>

#include <rte_cycles.h>

#include "base/weft_error.h"
#include "base/weft_time.h"

#define CLOCK_HZ_MIN    1000000u
#define CLOCK_SHIFT     32
#define CLOCK_TEXT_SIZE 56

#define CLOCK_DILATION_MAX 100000u

struct clock {
	uint64_t hz;
	uint64_t origin_tsc; /* counter at weft_time 0 */
	uint64_t mult;       /* picoseconds per cycle, times 2^CLOCK_SHIFT */
	uint32_t dilation;   /* real seconds per second that the clock shows */
	uint64_t unix_ns; /* since 1970, at time 0, the same in all processes; 0: ask the kernel */
};

/* 'hz' must be at least CLOCK_HZ_MIN. */
void clock_init(struct clock *clock, uint64_t hz, uint64_t origin_tsc);

/* Measures the frequency against the kernel's clock (20 ms) and starts at the current time.
 * 'dilation' is 1 to CLOCK_DILATION_MAX. */
void clock_start(struct clock *clock, uint32_t dilation);

/* Convert a clock to "HZ:ORIGIN:DILATION", for the other processes of a lab, and back.
 * clock_parse() returns 0, or -EINVAL with 'error' set. */
void clock_format(const struct clock *clock, char text[CLOCK_TEXT_SIZE]);
int clock_parse(struct clock *clock, const char *text, struct error *error);

/* Returns the time of a counter reading; 0 before the origin (another core's counter may lag
 * slightly at the start). */
static inline weft_time clock_time_at(const struct clock *clock, uint64_t tsc)
{
	int64_t cycles = (int64_t)(tsc - clock->origin_tsc);

	return cycles <= 0 ? 0
			   : (weft_time)(((unsigned __int128)(uint64_t)cycles * clock->mult) >>
					 CLOCK_SHIFT);
}

static inline weft_time clock_now(const struct clock *clock)
{
	return clock_time_at(clock, rte_rdtsc());
}

static inline weft_time clock_span(const struct clock *clock, weft_time shown)
{
	return shown * clock->dilation;
}

static inline weft_time clock_share(const struct clock *clock, weft_time real)
{
	return real / clock->dilation;
}

/* Returns the nanoseconds from 1970-01-01 to weft_time 0, which captures add to their times. */
uint64_t clock_unix_origin_ns(const struct clock *clock);

/* For waits in the kernel (pthread_cond_timedwait): sets the real time of day 'ms' from now. */
void clock_deadline(struct timespec *deadline, unsigned ms);
