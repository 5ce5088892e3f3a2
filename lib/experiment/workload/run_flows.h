/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Flows (pattern flows), drawn or from a list: source, destination, size and start of
 * each. They are replayed as a schedule (goal.h) with one rank per host. Each line of the file is a
 * flow, SRC DST START BYTES [AFTER]: hosts by name or number, a time and a length with or without a
 * unit (default: ns, bytes), and the number of another flow, counted from 0, that starts or ends at
 * SRC; the flow then starts START after that one. */

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
	weft_time start_ps; /* start in the schedule, or delay after flow 'after' */
	uint32_t after;     /* RUN_FLOW_NONE: none */
	uint32_t op;        /* its send in the schedule */
	uint32_t line;
	uint16_t from, to; /* hosts, as entries of the topology */
	bool awaited;      /* another flow starts when this one has arrived */
};

struct run_flows {
	struct run_flow_request *at;
	uint32_t count;
};

/* Reads the file and makes the schedule, which the caller destroys. On hosts with several ports,
 * flows use them in rotation, as far as 'rail' permits; a flow that waits for another one uses the
 * port where that one starts or ends. Returns 0, or a negative errno with error set, "FILE:LINE:
 * …"; the caller always frees 'at'. */
int run_flows_load(const char *path, const struct topology *topology, enum rail_rule rail,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* The same for a text in memory that ends with a 0 byte and is modified; 'path' is for messages. */
int run_flows_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* Makes the schedule from the given flows; 'path' is for messages. Returns 0 or a negative
 * errno. */
int run_flows_schedule(
	struct run_flows *flows, const char *path, struct goal **goal, struct error *error);

/* Reads the files of flows (lists, matrices, size distributions): lines with columns, which are
 * separated by spaces, tabs or commas; '#' starts a comment. For pipelines/workload. */

struct flow_reader;

/* A line with at least one column and at most 6; the last one contains all further columns. Returns
 * 0, -ENOMEM, or a negative errno with error set. */
typedef int flow_line_fn(const struct flow_reader *reader, char *const *column, unsigned columns);

struct flow_reader {
	const char *path; /* for messages */
	const struct topology *topology;
	flow_line_fn *take;
	void *ctx;
	struct error *error;
	uint32_t line; /* number of the present one */
};

#define FLOW_REFUSE(reader, ...) \
	error_at((reader)->error, (reader)->path, (reader)->line, 0, __VA_ARGS__)

/* Returns 0, or a negative errno with error set. The text ends with a 0 byte, and is modified. */
int flow_lines_parse(struct flow_reader *reader, char *text, size_t length);
int flow_lines_load(struct flow_reader *reader);

/* False: the text is not a number from 0 to 'max'. */
bool flow_digits(const char *text, uint64_t max, uint64_t *number);
/* Reads a host by name or number. Returns 0, or -EINVAL with error set. */
int flow_host(const struct flow_reader *reader, const char *text, uint16_t *host);
/* 0; -ENOSPC: more than RUN_FLOWS_MAX; -ENOMEM. */
int flow_add(struct run_flows *flows, uint32_t *room, const struct run_flow_request *flow);

/* Random flows: Poisson arrivals at each host, sizes from a distribution, destinations from the
 * hosts in 'to' or from a matrix. On average, a host's flows use the share 'load' of its link,
 * including frame headers but not source routes. They start between 'start' and 'stop'. The same
 * seed draws the same flows on either clock and in every process. Flows are sorted by start time.
 *
 * * A matrix has lines SRC DST WEIGHT. Destinations of a host are drawn by weight. The host with
 * the highest sum of weights sends the whole load, the others a proportional share. */

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
