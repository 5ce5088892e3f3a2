/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How far a result on the real clock can be trusted. While a loop is not scheduled, or serves other
 * devices, frames wait for it, and this time counts as link and switch latency. Each arrival at a
 * link that Weft times has a due time, so the result includes the lateness of arrivals, for which a
 * run file may set a limit. The loops also record how long they are not scheduled, which explains
 * the lateness. */

#include <jansson.h>
#include <stdio.h>

#include "run_result.h"

/* The smallest of 1, 2, 5, 10, 20, … ns that is at least 'ns'. */
uint64_t run_fidelity_step(uint64_t ns);

/* Compares the lateness with the demand, and keeps the demand for the documents. If the run does
 * not meet it, a reason is added to the result, with an estimate of the dilation that would be
 * sufficient. 'dilation' is the run's own. */
void run_fidelity_judge(
	struct run_result *result, const struct run_config_fidelity *demand, uint32_t dilation);
/* The smallest of 1, 2, 5, 10, … times the present dilation at which the same lateness, in real
 * time, would meet the demand; 0: none up to RUN_DILATION_MAX, or nothing was measured. */
uint64_t run_fidelity_dilation(const struct histogram *late_ns,
	const struct run_config_fidelity *demand, uint32_t dilation);

/* The total lateness of all arrivals as a share of the total network latency that all data frames
 * would have in the fabric alone: how late frames and their acknowledgements are if no device
 * compensates for it. UINT64_MAX: above 1000, or no frame arrived. */
uint64_t run_fidelity_late_ppm(const struct run_result *result);

/* Whether the lateness meets the demand. Weft's default, if 'demand' has none: the lateness is at
 * most 20 % of the latency, 10 % for frames and 10 % for their acknowledgements. The share of
 * arrivals that are on time is not a useful measure: on a busy machine, loops lose the CPU for the
 * same share of the time at every dilation; the dilation only changes how late frames are as a
 * result. */
bool run_fidelity_meets(const struct run_result *result, const struct run_config_fidelity *demand);

/* The object "fidelity" of a result. */
json_t *run_fidelity_json(const struct run_result *result);
/* "late_ns" of a link; null without arrivals. */
json_t *run_fidelity_late_json(const struct lateness_summary *late);

/* "stall_ns" and "stall_p99_ns", into the object 'wall'. */
void run_fidelity_add(json_t *wall, const struct run_result *result);

/* "s0's loop stalled for 410 ms", if a loop was not scheduled for long enough to bring links down,
 * and links went down without a command that cut them, or messages were refused although no link
 * was cut. Returns false if the machine is not the cause. */
bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size);

/* The lines at the end of a table. Nothing if no loop ran. */
void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out);
