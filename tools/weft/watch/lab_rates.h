/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The rates of a lab between two documents of lab_collect(): a line of 'weft lab top --json-lines'.
 */

#include <jansson.h>

#include "experiment/lab/lab.h"

/* {"lab", "up", "starved", "dilation", "seconds", "errors", "links", "hosts",
 * "endpoints", "mapper", "processes"}; the caller's reference. 'seconds' are real ones, those of
 * the document and of its rates are the lab's. Each direction of a link is an entry of "links",
 * those with errors first, then the busiest: "from", "to", "state", "rate_bps" with preamble and
 * gap, "capacity_bps", "utilisation" and "blocked" (shares of the time), "vc_fill" (the fullest VC
 * of the buffer that it fills), "stalls_per_s", "drops_per_s" (on arrival), "retransmissions_per_s"
 * (of a host) and "late_ns" (mean lateness of its arrivals). A value that this machine cannot know
 * is null. */
json_t *lab_rates(const struct lab *lab, const json_t *before, const json_t *now, double seconds);
