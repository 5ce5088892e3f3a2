/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads the files of flows (lists, matrices, distributions of sizes): lines of columns, separated
 * by spaces, tabs or commas; '#' starts a comment. For pipelines/workload. */

#include "base/weft_error.h"
#include "run_flows.h"

struct flow_reader;

/* A line with at least one column, at most 6: the last one stands for all that follow. 0, -ENOMEM,
 * or a negative errno and error. */
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

/* 0, or a negative errno and error. The text ends with a 0 byte, and is changed. */
int flow_lines_parse(struct flow_reader *reader, char *text, size_t length);
int flow_lines_load(struct flow_reader *reader);

/* False: not a number from 0 to 'max'. */
bool flow_digits(const char *text, uint64_t max, uint64_t *number);
/* A host by name or number. 0, or -EINVAL and error. */
int flow_host(const struct flow_reader *reader, const char *text, uint16_t *host);
/* 0; -ENOSPC: more than RUN_FLOWS_MAX; -ENOMEM. */
int flow_add(struct run_flows *flows, uint32_t *room, const struct run_flow_request *flow);
