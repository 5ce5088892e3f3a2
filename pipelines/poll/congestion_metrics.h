/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Metrics of congestion control in a running switch: the counters of congestion_control_counters()
 * and gauges of the present state. /weft/congestion/stats,NAME and 'weft lab status' show them;
 * /weft/port/stats shows which ports are roots (switch_metrics.h).
 *
 * Any thread may read; the values of one call are not of one moment. */

#include "congestion_control.h"
#include "fault.h"
#include "telemetry.h"

#define CONGESTION_METRICS_MAX 32

/* Telemetry points to it: the caller keeps it in place until telemetry_destroy(). */
struct congestion_metrics {
	const struct congestion_control *congestion;
	const char *name[CONGESTION_METRICS_MAX];
};

/* Shows switch 'name', which has congestion control, as /weft/congestion/stats,NAME.
 * 'congestion' must outlive telemetry. 0, or -errno and fault. */
int congestion_metrics_show(struct congestion_metrics *metrics, struct telemetry *telemetry,
	const char *name, const struct congestion_control *congestion, struct fault *fault);
