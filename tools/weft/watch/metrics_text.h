/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A document of lab_collect() as metrics for Prometheus. */

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "lab.h"

#define METRICS_OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define METRICS_TEXT_TYPE        "text/plain; version=0.0.4; charset=utf-8"

/* In OpenMetrics 1.0, or in the older text format of Prometheus, which knows no units and calls a
 * family by the name of its samples. */
void metrics_text(const struct lab *lab, const json_t *all, bool openmetrics, FILE *out);
