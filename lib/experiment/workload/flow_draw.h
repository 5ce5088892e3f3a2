/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Flows that are drawn: at each host Poisson arrivals, sizes from a distribution, destinations from
 * the hosts in 'to' or from a matrix. A host's flows take the share 'load' of its link on average,
 * with the headers of their frames but without source routes. They start between 'start' and
 * 'stop'. The same seed draws the same flows on either clock and in every process. Flows are
 * ordered by start.
 *
 * A matrix has lines SRC DST WEIGHT. Destinations of a host are drawn by weight. The host with the
 * highest sum of weights has the whole load, others a proportional share. */

#include "experiment/run/run_config.h"
#include "run_flows.h"
#include "traffic/arrivals.h"

/* Entry 'which' of the run's traffic. The caller frees flows->at in every case. 0, or a negative
 * errno and error: a bad file, no flow, more than RUN_FLOWS_MAX. */
int flow_draw(const struct run_config *run, uint32_t which, const struct topology *topology,
	struct run_flows *flows, struct error *error);

/* A distribution in lines BYTES SHARE: neither falls from line to line, and the last share is 1, or
 * 100 if shares are percentages. The text ends with a 0 byte, and is changed. '*at', the points of
 * 'sizes', is the caller's in every case. 0, or a negative errno and error. */
int flow_sizes_parse(char *text, size_t length, const char *path, struct flow_size_point **at,
	struct flow_sizes *sizes, struct error *error);

/* A matrix. Pairs are sorted by source; the caller frees it. */
struct flow_pair {
	uint64_t weight; /* sum of the source's weights up to this pair */
	uint16_t from, to;
};

struct flow_matrix {
	struct flow_pair *at;
	uint32_t count;
};

int flow_matrix_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct flow_matrix *matrix, struct error *error);
