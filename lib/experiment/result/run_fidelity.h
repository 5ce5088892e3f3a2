/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How far a result on the real clock can be trusted. While a loop is not scheduled, or serves other
 * devices, frames wait for it, and this time counts as latency of links and switches. Each arrival
 * at a link that Weft times has a due time, so the result has the lateness of arrivals, and a run
 * file may set a limit for it. The loops also record how long they are not scheduled, which
 * explains the lateness. */

#include <jansson.h>
#include <stdio.h>

#include "run_result.h"

/* The smallest of 1, 2, 5, 10, 20, … ns that is at least 'ns'. */
uint64_t run_fidelity_step(uint64_t ns);

/* Compares the lateness with the demand, and keeps the demand for the documents. If the run does
 * not meet it, the result gets a reason with an estimate of the dilation that would be enough.
 * 'dilation' is the run's. */
void run_fidelity_judge(
	struct run_result *result, const struct run_config_fidelity *demand, uint32_t dilation);
/* The smallest of 1, 2, 5, 10, … times the present dilation with which the same lateness, in the
 * machine's time, would meet the demand; 0: none up to RUN_DILATION_MAX, or nothing was measured.
 */
uint64_t run_fidelity_dilation(const struct histogram *late_ns,
	const struct run_config_fidelity *demand, uint32_t dilation);

/* The lateness of all arrivals together, as a share of the network latencies of all data frames in
 * the fabric alone: by how much frames and their acknowledgements are late if no device compensates
 * for it. UINT64_MAX: above 1000, or no frame arrived. */
uint64_t run_fidelity_late_ppm(const struct run_result *result);

/* Whether the lateness meets the demand. Weft's default, if 'demand' has none: the lateness is at
 * most 20 % of the latency, 10 % for frames and 10 % for their acknowledgements. A share of
 * arrivals in time would not be a measure: a busy machine takes the CPU from loops for the same
 * share of the time at each dilation, and the dilation changes how late frames then are. */
bool run_fidelity_meets(const struct run_result *result, const struct run_config_fidelity *demand);

/* The object "fidelity" of a result. */
json_t *run_fidelity_json(const struct run_result *result);
/* "late_ns" of a link; null without arrivals. */
json_t *run_fidelity_late_json(const struct lateness_summary *late);

/* "stall_ns" and "stall_p99_ns", into the object 'wall'. */
void run_fidelity_add(json_t *wall, const struct run_result *result);

/* "s0's loop stalled for 410 ms", if a loop was not scheduled for long enough to bring links down,
 * and links went down that no command cut, or messages were refused although no link was cut.
 * False: the machine is not the cause. */
bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size);

/* The lines at the end of a table. Nothing if no loop ran. */
void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out);
