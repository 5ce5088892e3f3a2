/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Time in one unit everywhere: unsigned 64-bit picoseconds since the start of the run (213 days
 * until it wraps). The state machines get 'now' as an argument; only pipelines/ and lib/port read a
 * clock (docs/developer/architecture.md). */

#include <stdint.h>

typedef uint64_t weft_time;

#define PS_PER_NS ((weft_time)1000)
#define PS_PER_US ((weft_time)1000 * PS_PER_NS)
#define PS_PER_MS ((weft_time)1000 * PS_PER_US)
#define PS_PER_S  ((weft_time)1000 * PS_PER_MS)

#define WEFT_TIME_NEVER UINT64_MAX

/* Rounded to the nearest nanosecond, for results. Undefined for WEFT_TIME_NEVER. */
static inline uint64_t ps_to_ns(weft_time time)
{
	return (time + PS_PER_NS / 2) / PS_PER_NS;
}

/* Picoseconds that one byte takes at 'rate_bps' bits per second, rounded up; 0 for an unlimited
 * rate (0). Exact for the usual rates: 100 Gbps 80 ps, 10 Gbps 800 ps, 1 Gbps 8000 ps. */
static inline uint64_t ps_per_byte(uint64_t rate_bps)
{
	return rate_bps == 0 ? 0 : (8 * PS_PER_S + rate_bps - 1) / rate_bps;
}

/* The lowest rate for which ps_per_byte() returns this time. */
static inline uint64_t rate_of_time(uint64_t ps_per_byte)
{
	return ps_per_byte == 0 ? 0 : (8 * PS_PER_S + ps_per_byte - 1) / ps_per_byte;
}
