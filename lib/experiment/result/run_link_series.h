/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The load of the links in each sample of a run. A way is one direction of a link: way 2 i of link
 * i leads from its port a to b, way 2 i + 1 from b to a. All values are integers of the same size,
 * so a series can be stored, copied and written to a file as it is. A run that counts messages may
 * have more samples than fit; then the series has only the first ones. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values of a direction in a sample, in this order. Shares are in millionths. */
enum {
	RUN_LINK_UTILISATION, /* share of the link's rate */
	RUN_LINK_BLOCKED,     /* share of the sample's time with data to send but no credits */
	RUN_LINK_STALLS,      /* how often a switch entered that state */
	RUN_LINK_ROOT,        /* 1: at the end of the sample the output was a root of congestion */
	RUN_LINK_FILL, /* fill of the far end's buffer at the sample's end: VC 0, then the others */
};

#define RUN_LINK_SHARE_ONE 1000000u

struct run_link_series {
	uint32_t ways, vcs; /* 0 ways: nothing is measured */
	uint32_t samples, room;
	uint32_t *value; /* [samples][ways][RUN_LINK_FILL + vcs] */
};

/* The number of values of one direction, and of all directions, in a sample. */
static inline size_t run_link_series_width(const struct run_link_series *series)
{
	return RUN_LINK_FILL + series->vcs;
}

static inline size_t run_link_series_values(const struct run_link_series *series)
{
	return series->ways * run_link_series_width(series);
}

static inline const uint32_t *run_link_series_at(
	const struct run_link_series *series, uint32_t sample, uint32_t way)
{
	return series->value + sample * run_link_series_values(series) +
	       way * run_link_series_width(series);
}

/* With this number of samples, another one would exceed RUN_LINK_VALUES_MAX. */
bool run_link_series_is_full(const struct run_link_series *series, uint64_t samples);

/* The share in millionths, saturated; 0 if the whole is 0. */
uint32_t run_link_share(double part, double whole);

/* Makes room for another sample, whose values are undefined; NULL if out of memory. */
uint32_t *run_link_series_add(struct run_link_series *series);
/* Copies 'from' into 'series', which has no values yet. May return -ENOMEM. */
int run_link_series_copy(struct run_link_series *series, const struct run_link_series *from);
void run_link_series_free(struct run_link_series *series);

/* {"utilisation", "blocked", "stalls": [one per sample], "fill": [one list per VC], "root": [true
 * or false]} of a way. "fill" and "root" are left out if all their values are zero. */
json_t *run_link_series_json(const struct run_link_series *series, uint32_t way);
/* Reads that object back into 'way' of 'series', whose values are zeroed; the number of samples
 * must match. Returns -EINVAL if it is something else. */
int run_link_series_parse(struct run_link_series *series, uint32_t way, const json_t *from);
