/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* 'weft twin --counters': compares measured loads of links with predicted ones. */

#include <jansson.h>
#include <stdio.h>

#include "topo/formats/ib_counters.h"

/* Loads that routes predict for uniform traffic. */
struct twin_prediction {
	const char *routes; /* their name */
	double *load;       /* route_report.uniform.load; NULL: none */
};

/* Reads one file of counters, or the difference of two (path[1] NULL: one), and compares the data
 * of links between switches with the prediction. Returns NULL with '*result' set after printing an
 * error. */
json_t *twin_counters_compare(const struct topology *topology, const struct ib_addresses *addresses,
	const char *const path[2], const struct twin_prediction *prediction, int *result);
/* The same as text. */
void twin_counters_print(const json_t *measured, FILE *out);
