/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A run for the page that draws it: while it goes on, from the stream of its samples
 * (run_stream.h), and then from its result. The command's thread follows the run, the server's
 * thread asks for documents. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"

struct web_run;

/* A run that starts, by the name of its file; its samples arrive in the open file 'fd', the
 * caller's. NULL without memory. */
struct web_run *web_run_create(
	const struct run_config *config, const struct topology *topology, const char *name, int fd);
void web_run_destroy(struct web_run *run);

/* Takes the samples that have arrived. 1: the stream has started, 0: not yet, -EINVAL: it is of
 * another build. Samples for which there was no memory are not shown. */
int web_run_follow(struct web_run *run);

/* The run ended: from now on it is the one of the result file. 0, or -errno and error: no such
 * file, no result, or its topology is gone; then it is unchanged. */
int web_run_end(struct web_run *run, const char *path, struct error *error);
/* The same for a run that is known only from its result. NULL, errno and error. */
struct web_run *web_run_read(const char *path, struct error *error);

/* The event: {"id", "state": "running" or "result", "samples"}, from malloc(); NULL without memory.
 */
char *web_run_event(struct web_run *run);
/* A number that changes with the event. */
uint64_t web_run_version(struct web_run *run);

/* clang-format off */
/* A document of the page as text, from malloc(); NULL: there is none of this path and these numbers.
 *
 *	/topology   web_topology() and "run": {"id", "state", "samples", "link_series", "clock", "seed",
 *	            "messages", "throughput", "latency_ns", "fidelity", "checks", "measured_ns",
 *	            "incomplete", "waiting_ns": {switch: mean}}; null or absent: not known (yet). While a run
 *	            counts messages, also "counts": {"warmup", "messages"}
 *	/series     objects of "series" of the result, from that number on, at most 4096
 *	/sample     that of web_sample() for the sample of that number; "stalls" are those in it
 *	/mean       the same for the whole run; on the real clock for the samples of links
 *	/link       {"utilisation", "blocked"} in both directions of that link, each in the samples from
 *	            'from' on, at most 4096 */
/* clang-format on */
char *web_run_document(void *run, const char *path, uint64_t number, uint64_t from);
