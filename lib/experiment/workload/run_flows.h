/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Flows (pattern flows), drawn or from a file: source, destination, size and start time. They are
 * replayed as a schedule (goal.h) with one rank per host. Each line of the file is a flow, SRC DST
 * START BYTES [AFTER]. Hosts are given by name or number; time and length with or without a unit
 * (default: ns, bytes). AFTER is the index of a flow that starts or ends at SRC; the new flow then
 * starts START after that flow. */

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "experiment/run/run_config.h"
#include "goal/goal.h"
#include "topo/topology.h"
#include "traffic/arrivals.h"
#include "traffic/rails.h"

#define RUN_FLOW_NONE UINT32_MAX
#define RUN_FLOWS_MAX (GOAL_OPS_MAX / 3)

struct run_flow_request {
	uint64_t bytes;
	weft_time start_ps; /* start time in the schedule, or delay after flow 'after' */
	uint32_t after;     /* RUN_FLOW_NONE: none */
	uint32_t op;        /* index of its send in the schedule */
	uint32_t line;
	uint16_t from, to; /* host indices in the topology */
	bool awaited;      /* another flow starts after this one arrives */
};

struct run_flows {
	struct run_flow_request *at;
	uint32_t count;
};

/* Reads the file and builds the schedule, which the caller destroys. On hosts with several ports,
 * flows use the ports in rotation, subject to 'rail'. A flow with AFTER uses the port where the
 * other flow starts or ends. Returns 0, or a negative errno with an error that starts with
 * "FILE:LINE: ". The caller always frees 'at'. */
int run_flows_load(const char *path, const struct topology *topology, enum rail_rule rail,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* Like run_flows_load(), for a 0-terminated text, which is modified. 'path' is for messages. */
int run_flows_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* Builds the schedule from these flows. 'path' is for messages. Returns 0 or a negative errno. */
int run_flows_schedule(
	struct run_flows *flows, const char *path, struct goal **goal, struct error *error);

/* Reads the files of flows (lists, matrices, size distributions): lines of columns separated by
 * spaces, tabs or commas; '#' starts a comment. Used by pipelines/workload. */

struct flow_reader;

/* Receives the first 1 to 6 columns of a line; 6 means that there are too many. Returns 0, -ENOMEM,
 * or a negative errno with error set. */
typedef int flow_line_fn(const struct flow_reader *reader, char *const *column, unsigned columns);

struct flow_reader {
	const char *path; /* for messages */
	const struct topology *topology;
	flow_line_fn *take;
	void *ctx;
	struct error *error;
	uint32_t line; /* number of the current line */
};

#define FLOW_REFUSE(reader, ...) \
	error_at((reader)->error, (reader)->path, (reader)->line, 0, __VA_ARGS__)

/* Reads all lines of a text that ends with a 0 byte, and modifies it. Errors as in flow_line_fn. */
int flow_lines_parse(struct flow_reader *reader, char *text, size_t length);
int flow_lines_load(struct flow_reader *reader);

/* Parses a number from 0 to 'max'. Returns false for any other text. */
bool flow_digits(const char *text, uint64_t max, uint64_t *number);
/* Finds a host by name or number. Returns 0, or -EINVAL with error set. */
int flow_host(const struct flow_reader *reader, const char *text, uint16_t *host);
/* Appends a flow. Returns 0, -ENOSPC if there would be more than RUN_FLOWS_MAX, or -ENOMEM. */
int flow_add(struct run_flows *flows, uint32_t *room, const struct run_flow_request *flow);

/* Random flows: Poisson arrivals at each host, sizes from a distribution, destinations from the
 * hosts in 'to' or from a matrix. On average, a host's flows use the share 'load' of its link,
 * including frame headers but not source routes. They start between 'start' and 'stop'. The same
 * seed yields the same flows on either clock and in every process. Flows are sorted by start time.
 *
 * A matrix has lines SRC DST WEIGHT. A host's destinations are drawn by weight. The host with the
 * largest sum of weights sends at the full load, the other hosts proportionally less. */

/* Draws the flows of entry 'which' of the run's traffic. Returns 0, or a negative errno with error
 * set: a bad file, no flows, or more than RUN_FLOWS_MAX. The caller always frees flows->at. */
int flow_draw(const struct run_config *run, uint32_t which, const struct topology *topology,
	struct run_flows *flows, struct error *error);

/* Parses a distribution from lines of BYTES SHARE. Neither value decreases from line to line; the
 * last share is 1, or 100 if shares are percentages. The text ends with a 0 byte, and is modified.
 * '*at' holds the points of 'sizes', and is always freed by the caller. Returns 0, or a negative
 * errno with error set. */
int flow_sizes_parse(char *text, size_t length, const char *path, struct flow_size_point **at,
	struct flow_sizes *sizes, struct error *error);

/* A traffic matrix. Pairs are sorted by source; the caller frees them. */
struct flow_pair {
	uint64_t weight; /* sum of the source's weights up to this pair, inclusive */
	uint16_t from, to;
};

struct flow_matrix {
	struct flow_pair *at;
	uint32_t count;
};

int flow_matrix_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct flow_matrix *matrix, struct error *error);
