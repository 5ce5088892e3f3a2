/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Names of metrics for Prometheus, made of the counters of weft-counters(7): "weft_", the class,
 * the counter with its unit at the end, in base units. "bytes_out" of a port is
 * weft_port_out_bytes, "throttled_ns" of a host weft_host_throttled_seconds.
 */

#include "counter_info.h"

#define METRIC_NAME_MAX 96

struct metric_name {
	char text[METRIC_NAME_MAX]; /* without "_total" */
	const char *unit;           /* at the end of the name; "" without one */
	double scale;               /* value = counter * scale */
};

/* 'class': "port", "host", "link", … */
void metric_name_make(const char *class, const struct counter_info *info, struct metric_name *name);
