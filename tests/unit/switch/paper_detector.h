/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A detector and a table with the thresholds and times of the ARN+AFI paper, for tests. Tests set
 * what depends on the switch (ports, VCs, buffers, hosts), and other readings. */

#include "switch/arn_table.h"
#include "switch/congestion_detector.h"

#define CRT     (5 * PS_PER_MS)
#define TTL     (10 * PS_PER_MS)
#define REFRESH (100 * PS_PER_US)

static inline struct congestion_detector_config paper_detector(void)
{
	return (struct congestion_detector_config){.hcdth_ppm = 810000,
		.lcdth_ppm = 630000,
		.fcth_ppm = 780000,
		.crt_ps = CRT,
		.refresh_ps = REFRESH,
		.retest = CONGESTION_RETEST_STARTS,
		.by_vc = true,
		.all_voqs = true,
		.afc = true};
}

static inline struct arn_table_config paper_table(void)
{
	return (struct arn_table_config){.entries = 64,
		.ttl_ps = TTL,
		.refresh_ps = REFRESH,
		.adapted_notify = true,
		.adapted_roots = true,
		.waiting_first = true};
}
