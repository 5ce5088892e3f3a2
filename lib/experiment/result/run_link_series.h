/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The load of the links in each sample of a run. Link i has two directions: index 2 i is from its
 * port a to b, index 2 i + 1 from b to a. All values are integers of the same size, so a series can
 * be copied and written to a file as raw bytes. A run that counts messages may have more samples
 * than fit; the series then holds only the first ones. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of a direction in a sample, in this order. Shares are in millionths. */
enum {
	RUN_LINK_UTILISATION, /* share of the link's rate */
	RUN_LINK_BLOCKED,     /* share of the sample's time with data to send but no credits */
	RUN_LINK_STALLS,      /* number of times a switch entered that state */
	RUN_LINK_ROOT,        /* 1: the output was a congestion root at the end of the sample */
	RUN_LINK_FILL, /* fill of the far end's buffer at the sample's end, one value per VC */
};

#define RUN_LINK_SHARE_ONE 1000000u

struct run_link_series {
	uint32_t ways, vcs; /* number of directions (0: nothing is measured), and of VCs */
	uint32_t samples, room;
	uint32_t *value; /* [samples][ways][RUN_LINK_FILL + vcs] */
};

/* Number of values per sample in one direction, and in all directions. */
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

/* Returns true if one sample more than 'samples' would exceed RUN_LINK_VALUES_MAX. */
bool run_link_series_is_full(const struct run_link_series *series, uint64_t samples);

/* Returns part / whole in millionths, saturated; 0 if 'whole' is 0. */
uint32_t run_link_share(double part, double whole);

/* Appends a sample with undefined values. Returns NULL if out of memory. */
uint32_t *run_link_series_add(struct run_link_series *series);
/* Copies 'from' into 'series', which has no values yet. Returns 0 or -ENOMEM. */
int run_link_series_copy(struct run_link_series *series, const struct run_link_series *from);
void run_link_series_free(struct run_link_series *series);

/* Returns {"utilisation", "blocked", "stalls": [one per sample], "fill": [one list per VC], "root":
 * [true or false]} of a direction, without "fill" and "root" if all their values are zero. */
json_t *run_link_series_json(const struct run_link_series *series, uint32_t way);
/* Parses that object into direction 'way' of 'series', whose values must be zeroed. Returns -EINVAL
 * if it is malformed or the number of samples differs. */
int run_link_series_parse(struct run_link_series *series, uint32_t way, const json_t *from);
