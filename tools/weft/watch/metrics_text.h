/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Formats a document of lab_collect() as metrics for Prometheus. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "experiment/lab/lab.h"

/* Unit and meaning of each counter, from weft-counters(7). The table is generated from that page
 * when Weft is built. */

struct counter_info {
	const char *name; /* "stored_blocks_vc" stands for the counters of all VCs */
	const char *unit; /* "frames", "ns", "0 or 1", … */
	const char *meaning;
	bool gauge; /* shows the current state; all other counters only grow */
	bool good_is_zero;
};

/* Returns NULL if the page does not list the counter. */
const struct counter_info *counter_info_find(const char *name);

#define METRICS_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_TEXT_TYPE        "text/plain; version=0.0.4; charset=utf-8"

/* Writes OpenMetrics 1.0, or the older text format of Prometheus, which has no units and gives a
 * family the same name as its samples. */
void metrics_text(const struct lab *lab, const json_t *all, bool openmetrics, FILE *out);
