/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a running switch with adaptive routing tells about congestion: everything that
 * congestion_control_counters() counts, and how it stands now. /weft/congestion/stats,NAME and
 * 'weft lab status' show these; which of its ports are roots, /weft/port/stats (switch_metrics.h).
 *
 * Any thread may read; the values of one call are not of one moment.
 */

#include "congestion_control.h"
#include "fault.h"
#include "telemetry.h"

#define CONGESTION_METRICS_MAX 32

/* What telemetry points to. It is the caller's, and stays where it is until telemetry_destroy(). */
struct congestion_metrics {
	const struct congestion_control *congestion;
	const char *name[CONGESTION_METRICS_MAX];
	unsigned count;
};

/* Collects the names; 'adaptation' is the caller's and outlives it. */
void congestion_metrics_init(
	struct congestion_metrics *metrics, const struct congestion_control *congestion);

/* 'value' has room for metrics->count. */
void congestion_metrics_read(const struct congestion_metrics *metrics, uint64_t *value);

/* Shows switch 'name', which has an adaptation, as /weft/congestion/stats,NAME. 0, or -errno and
 * fault. */
int congestion_metrics_show(struct congestion_metrics *metrics, struct telemetry *telemetry,
	const char *name, const struct congestion_control *congestion, struct fault *fault);
