/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "tsc_clock.h"

#include <inttypes.h>
#include <stdio.h>

#define CALIBRATE_NS    20000000u
#define CALIBRATE_TRIES 8

static void init_dilated(struct clock *clock, uint64_t hz, uint64_t origin_tsc, uint32_t dilation)
{
	unsigned __int128 whole = (unsigned __int128)PS_PER_S << CLOCK_SHIFT;

	*clock = (struct clock){
		.hz = hz,
		.origin_tsc = origin_tsc,
		.mult = (uint64_t)(whole / hz / dilation),
		.dilation = dilation,
	};
}

void clock_init(struct clock *clock, uint64_t hz, uint64_t origin_tsc)
{
	init_dilated(clock, hz, origin_tsc, 1);
}

static uint64_t kernel_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads both clocks at the same moment. The shortest of several tries was not interrupted. */
static void read_both(clockid_t id, uint64_t *tsc, uint64_t *ns)
{
	uint64_t min = UINT64_MAX;

	for (unsigned i = 0; i < CALIBRATE_TRIES; i++) {
		uint64_t before = rte_rdtsc_precise();
		uint64_t at = kernel_ns(id);
		uint64_t after = rte_rdtsc_precise();

		if (after - before >= min)
			continue;
		min = after - before;
		*tsc = before + min / 2;
		*ns = at;
	}
}

/* The raw clock is the counter in the kernel's scale, without NTP adjustments. EAL's own figure is
 * rounded to 10 MHz. */
static uint64_t measure_hz(void)
{
	const struct timespec wait = {.tv_nsec = CALIBRATE_NS};
	uint64_t tsc_a = 0, tsc_b = 0, ns_a = 0, ns_b = 0;

	read_both(CLOCK_MONOTONIC_RAW, &tsc_a, &ns_a);
	nanosleep(&wait, NULL);
	read_both(CLOCK_MONOTONIC_RAW, &tsc_b, &ns_b);
	return (uint64_t)((unsigned __int128)(tsc_b - tsc_a) * 1000000000u / (ns_b - ns_a));
}

void clock_start(struct clock *clock, uint32_t dilation)
{
	uint64_t hz = measure_hz();

	init_dilated(clock, hz, rte_rdtsc(), dilation);
}

void clock_format(const struct clock *clock, char text[CLOCK_TEXT_SIZE])
{
	snprintf(text, CLOCK_TEXT_SIZE, "%" PRIu64 ":%" PRIu64 ":%" PRIu32, clock->hz,
		clock->origin_tsc, clock->dilation);
}

int clock_parse(struct clock *clock, const char *text, struct error *error)
{
	uint64_t hz, origin;
	uint32_t dilation;
	int used = -1;

	if (sscanf(text, "%" SCNu64 ":%" SCNu64 ":%" SCNu32 "%n", &hz, &origin, &dilation, &used) !=
			3 ||
		used < 0 || text[used] != '\0' || hz < CLOCK_HZ_MIN || dilation < 1 ||
		dilation > CLOCK_DILATION_MAX)
		return error_set(error, EINVAL,
			"clock '%s': expected HZ:ORIGIN:DILATION as 'weft lab' passes it", text);
	init_dilated(clock, hz, origin, dilation);
	return 0;
}

uint64_t clock_unix_origin_ns(const struct clock *clock)
{
	uint64_t tsc = 0, ns = 0;

	if (clock->unix_ns != 0)
		return clock->unix_ns;
	read_both(CLOCK_REALTIME, &tsc, &ns);
	return ns - clock_span(clock, clock_time_at(clock, tsc)) / PS_PER_NS;
}

void clock_deadline(struct timespec *deadline, unsigned ms)
{
	clock_gettime(CLOCK_REALTIME, deadline);
	deadline->tv_sec += ms / 1000;
	deadline->tv_nsec += (long)(ms % 1000) * 1000000;
	if (deadline->tv_nsec >= 1000000000) {
		deadline->tv_sec++;
		deadline->tv_nsec -= 1000000000;
	}
}
