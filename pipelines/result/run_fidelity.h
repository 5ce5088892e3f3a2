/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Which times of a result on the real clock can be trusted. While a loop is away, without a CPU or
 * at work on other devices, frames wait for it, and what they waited for is measured as if links
 * and switches had taken it. The loops record how long they are away; times well above that are the
 * fabric's, times below it may be the machine's.
 */

#include <jansson.h>
#include <stdio.h>

#include "run_result.h"

/* The least of 1, 2, 5, 10, 20, … ns that is at least 'ns'. */
uint64_t run_fidelity_step(uint64_t ns);

/* "away_ns" and "away_p99_ns", into the object 'wall'. */
void run_fidelity_add(json_t *wall, const struct run_result *result);

/* "s0's loop was away 410 ms", if a loop was away for long enough to bring links down, and links
 * have gone down that nobody has cut, or messages were refused although none was cut. False: the
 * machine is not the cause. */
bool run_fidelity_starved(
	const struct run_result *result, weft_time hello_ps, char *text, size_t size);

/* The lines at the end of a table. Nothing if no loop has run. */
void run_fidelity_print(const struct run_result *result, weft_time hello_ps, FILE *out);
