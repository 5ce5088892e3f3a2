/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Time has one unit everywhere: unsigned 64-bit picoseconds since the start of the run, which wrap
 * after 213 days. State machines take 'now' as an argument; only pipelines/ and lib/port read a
 * clock (docs/developer/architecture.md). */

#include <stdint.h>

typedef uint64_t weft_time;

#define PS_PER_NS ((weft_time)1000)
#define PS_PER_US ((weft_time)1000 * PS_PER_NS)
#define PS_PER_MS ((weft_time)1000 * PS_PER_US)
#define PS_PER_S  ((weft_time)1000 * PS_PER_MS)

#define WEFT_TIME_NEVER UINT64_MAX

/* Rounds to the nearest nanosecond, for results. Undefined for WEFT_TIME_NEVER. */
static inline uint64_t ps_to_ns(weft_time time)
{
	return (time + PS_PER_NS / 2) / PS_PER_NS;
}

/* Returns the time per byte at 'rate_bps' bits per second, in units of 2^-BYTE_TIME_SHIFT ps,
 * rounded up; 0 for an unlimited rate (0). It is a whole number of picoseconds at the usual rates:
 * 80 at 100 Gbps, 800 at 10 Gbps. At 100 Tbps the error is 0.002 %. */
#define BYTE_TIME_SHIFT 16

static inline uint64_t byte_time_of(uint64_t rate_bps)
{
	return rate_bps == 0 ? 0 : ((8 * PS_PER_S << BYTE_TIME_SHIFT) + rate_bps - 1) / rate_bps;
}

/* Returns the lowest rate for which byte_time_of() returns 'byte_time'. */
static inline uint64_t rate_of_time(uint64_t byte_time)
{
	return byte_time == 0 ? 0 : ((8 * PS_PER_S << BYTE_TIME_SHIFT) + byte_time - 1) / byte_time;
}

static inline weft_time weft_time_min(weft_time a, weft_time b)
{
	return a < b ? a : b;
}

static inline weft_time weft_time_max(weft_time a, weft_time b)
{
	return a > b ? a : b;
}

/* Returns the picoseconds per byte, rounded up: the time of a flit. */
static inline uint64_t ps_per_byte(uint64_t rate_bps)
{
	return rate_bps == 0 ? 0 : (8 * PS_PER_S + rate_bps - 1) / rate_bps;
}

/* Returns the time that 'bytes' take, rounded down. */
static inline weft_time bytes_ps(uint64_t bytes, uint64_t byte_time)
{
	return (weft_time)((unsigned __int128)bytes * byte_time >> BYTE_TIME_SHIFT);
}

/* Returns the number of bytes that start within 'time'. Not for an unlimited rate. */
static inline uint64_t bytes_within(weft_time time, uint64_t byte_time)
{
	return (uint64_t)(((unsigned __int128)time << BYTE_TIME_SHIFT) / byte_time);
}

/* Returns the fraction of a picosecond in a byte's time. */
static inline uint16_t byte_time_part(uint64_t byte_time)
{
	return (uint16_t)byte_time;
}

/* A transmitter's initial fraction of a picosecond. With it, a sum of frame times is the exact time
 * rounded up, so the rate is met and never exceeded. */
#define WIRE_REST UINT16_MAX

/* Returns the time of the next frame, of at most FRAME_BYTES_MAX, and updates the fraction. */
static inline weft_time wire_takes(uint64_t bytes, uint64_t byte_time, uint16_t *rest)
{
	uint64_t takes = bytes * byte_time + *rest;

	*rest = (uint16_t)takes;
	return takes >> BYTE_TIME_SHIFT;
}
