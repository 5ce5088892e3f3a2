/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The load of links in each sample (measure.link-series), for all three engines. An engine reads
 * the counts of each direction since the run started; the differences are computed here. */

#include "experiment/result/run_link_series.h"
#include "experiment/run/run_config.h"
#include "switch/switch.h"
#include "topo/topology.h"
#include "wire/frame.h"

/* Use of one direction of a link. The first three only grow. */
struct measure_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
	bool root;                      /* the output is a root of congestion now */
	uint32_t stored[FRAME_VCS_MAX]; /* blocks in the buffer at the far end now */
};

/* Fills 'use', which is zeroed, for the direction from one port to the other. */
typedef void (*measure_link_fn)(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);

/* Adds the measurements of other processes; each measures at its own devices and has 0
 * elsewhere. */
typedef void measure_link_sum_fn(const void *ctx, uint32_t *value, size_t values);

struct measure_link_before {
	uint64_t busy_ps, blocked_ps, stalls;
};

struct measure_links {
	const struct topology *topology;
	measure_link_fn read; /* NULL: nothing is measured */
	const void *ctx;
	measure_link_sum_fn *sum;           /* NULL: this process reads all links */
	uint32_t vc_blocks;                 /* size of one VC in a buffer */
	struct measure_link_before *before; /* [ways], at the last sample */
	struct run_link_series series;
};

/* Opens it if the run asks for it. The caller owns topology and 'ctx', which must outlive it. May
 * return -ENOMEM. */
int measure_links_open(struct measure_links *links, const struct topology *topology,
	const struct run_config *run, measure_link_fn read, const void *ctx);
/* Also allowed on a zeroed struct that was never opened. */
void measure_links_close(struct measure_links *links);

/* Measuring starts. Forgets all samples. */
void measure_links_begin(struct measure_links *links);
/* Takes a sample of the last 'time_ps'. Returns 0 and its values (NULL if nothing is measured or
 * the series is full), or -ENOMEM. */
int measure_links_sample(struct measure_links *links, uint64_t time_ps, const uint32_t **values);

/* Fills in the state of the switches at both ends; NULL: a host is there. */
void measure_links_read_switches(const struct weft_switch *from, unsigned output,
	const struct weft_switch *to, unsigned input, struct measure_link_use *use);
