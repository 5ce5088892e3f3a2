/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A result of a run, for the page that draws it. */

#include <jansson.h>

#include "fault.h"

/* The documents of the page; the caller's references. */
struct web_result {
	json_t *topology; /* as web_topology(), with "run": see below */
	json_t *sample;   /* as web_sample(): means of the whole run */
};

/*
 * Reads a result file ('-': no). "run" is {"clock", "duration_ns", "messages", "throughput",
 * "latency_ns", "checks", "series", "waiting_ns": {switch: mean}, "incomplete"} as in the result;
 * what it lacks is null. 0, or -errno and fault: no such file, no result, or its topology is gone.
 */
int web_result_read(struct web_result *result, const char *path, struct fault *fault);
void web_result_free(struct web_result *result);
