/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The entries of the traffic in a measuring window (measure_window.h), for measure_window.c. */

#include "measure_window.h"

/* The capacity of a host's link in the window's unit of time: bits, or a byte a cycle; 0 without a
 * link. */
double measure_capacity(
	const struct measure_window *window, const struct topology *topology, uint32_t host);

/* A share of 'capacity' in this time. */
double measure_share(
	const struct measure_window *window, double capacity, uint64_t bytes, weft_time time_ps);

/* Adds the entries to a result. -ENOMEM. */
int measure_entries_result(const struct measure_window *window, struct run_result *result);
void measure_entries_free(struct measure_window *window);
