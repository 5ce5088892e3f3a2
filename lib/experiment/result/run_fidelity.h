/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How far a result on the real clock can be trusted. While a loop is not scheduled or serves other
 * devices, frames wait, which counts as link and switch latency. Weft computes when each frame is
 * due at a link that it times, so the result includes the lateness of arrivals, which a run file
 * may limit. The loops also record how long they are not scheduled, which explains the lateness. */

#include <jansson.h>
#include <stdio.h>

#include "run_result.h"

/* Returns the smallest of 1, 2, 5, 10, 20, … ns that is at least 'ns'. */
uint64_t run_fidelity_step(uint64_t ns);

/* Compares the lateness with the demand, and stores the demand for the result document. If the run
 * does not meet it, adds a reason to the result, with an estimate of a sufficient dilation.
 * 'dilation' is the dilation of the run. */
void run_fidelity_judge(
	struct run_result *result, const struct run_config_fidelity *demand, uint32_t dilation);
/* Returns the smallest of 1, 2, 5, 10, … times 'dilation' at which the same lateness in real time
 * would meet the demand; 0: none up to RUN_DILATION_MAX, or nothing was measured. */
uint64_t run_fidelity_dilation(const struct histogram *late_ns,
	const struct run_config_fidelity *demand, uint32_t dilation);

/* Returns the total lateness of all arrivals, in millionths of the total network latency of all
 * data frames in the fabric alone. This shows how late frames and their acknowledgements are if no
 * device catches up. UINT64_MAX: the ratio is above 1000, or no frame arrived. */
uint64_t run_fidelity_late_ppm(const struct run_result *result);

/* Returns true if the lateness meets 'demand'. If 'demand' is empty, Weft's default applies: the
 * lateness is at most 20 % of the latency, 10 % for frames and 10 % for their acknowledgements. The
 * share of punctual arrivals would not be useful: on a busy machine, loops lose the CPU for the
 * same share of the time at every dilation, which only changes how late frames become. */
bool run_fidelity_meets(const struct run_result *result, const struct run_config_fidelity *demand);

/* Returns the object "fidelity" of a result. */
json_t *run_fidelity_json(const struct run_result *result);
/* Returns "late_ns" of a link; null without arrivals. */
json_t *run_fidelity_late_json(const struct lateness_summary *late);

/* Adds "stall_ns" and "stall_p99_ns" to the object 'wall'. */
void run_fidelity_add(json_t *wall, const struct run_result *result);

/* Returns true, with a text such as "s0's loop stalled for 410 ms", if the machine is at fault: a
 * loop was not scheduled for so long that links could go down, and then links went down, or
 * messages were refused, although no cable was cut. */
bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size);

/* Prints the lines at the end of the table; nothing if no loop ran. */
void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out);
