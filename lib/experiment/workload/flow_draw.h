/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Random flows: Poisson arrivals at each host, sizes from a distribution, destinations from the
 * hosts in 'to' or from a matrix. On average, a host's flows use the share 'load' of its link,
 * including frame headers but not source routes. They start between 'start' and 'stop'. The same
 * seed draws the same flows on either clock and in every process. Flows are sorted by start time.
 *
 * * A matrix has lines SRC DST WEIGHT. Destinations of a host are drawn by weight. The host with
 * the highest sum of weights sends the whole load, the others a proportional share. */

#include "experiment/run/run_config.h"
#include "run_flows.h"
#include "traffic/arrivals.h"

/* Draws the flows of entry 'which' of the run's traffic. The caller always frees flows->at. Returns
 * 0, or a negative errno with error set: a bad file, no flows, more than RUN_FLOWS_MAX. */
int flow_draw(const struct run_config *run, uint32_t which, const struct topology *topology,
	struct run_flows *flows, struct error *error);

/* A distribution as lines of BYTES SHARE: neither value decreases from line to line, and the last
 * share is 1, or 100 if shares are percentages. The text ends with a 0 byte, and is modified.
 * '*at', the points of 'sizes', always belongs to the caller. Returns 0, or a negative errno with
 * error set. */
int flow_sizes_parse(char *text, size_t length, const char *path, struct flow_size_point **at,
	struct flow_sizes *sizes, struct error *error);

/* A matrix. Pairs are sorted by source; the caller frees it. */
struct flow_pair {
	uint64_t weight; /* sum of the source's weights up to and including this pair */
	uint16_t from, to;
};

struct flow_matrix {
	struct flow_pair *at;
	uint32_t count;
};

int flow_matrix_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct flow_matrix *matrix, struct error *error);
