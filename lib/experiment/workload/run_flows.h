/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Flows (pattern flows), drawn (flow_draw.h) or from a list: source, destination, size and start of
 * each. They are replayed as a schedule (goal.h) with a rank per host. A line of the file is a
 * flow, SRC DST START BYTES [AFTER]: hosts by name or number, a time and a length with or without
 * unit (ns, bytes), and the number of another flow, counted from 0, that starts or ends at SRC: the
 * flow starts START after it. */

#include "base/weft_time.h"
#include "goal/goal.h"
#include "topo/topology.h"
#include "traffic/rails.h"

#define RUN_FLOW_NONE UINT32_MAX
#define RUN_FLOWS_MAX (GOAL_OPS_MAX / 3)

struct run_flow_request {
	uint64_t bytes;
	weft_time start_ps; /* in the schedule, or after flow 'after' */
	uint32_t after;     /* RUN_FLOW_NONE: none */
	uint32_t op;        /* its send in the schedule */
	uint32_t line;
	uint16_t from, to; /* hosts, as entries of the topology */
	bool awaited;      /* another flow begins when it has arrived */
};

struct run_flows {
	struct run_flow_request *at;
	uint32_t count;
};

/* Reads the file and makes the schedule, which the caller destroys. Flows of hosts with several
 * ports use them in rotation, as far as 'rail' permits; a flow that waits for another one uses the
 * port where that flow starts or ends. 0, or a negative errno and error, "FILE:LINE: …"; the caller
 * frees 'at' in every case. */
int run_flows_load(const char *path, const struct topology *topology, enum rail_rule rail,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* The same for a text in memory with a 0 after it, which is changed; 'path' is for messages. */
int run_flows_parse(char *text, size_t length, const char *path, const struct topology *topology,
	struct run_flows *flows, struct goal **goal, struct error *error);
/* Makes the schedule of flows that are known; 'path' is for messages. 0 or a negative errno. */
int run_flows_schedule(
	struct run_flows *flows, const char *path, struct goal **goal, struct error *error);
