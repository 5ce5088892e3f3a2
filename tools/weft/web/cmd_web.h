/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page of a run, for the commands that show one. */

#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "common/commands.h"
#include "experiment/lab/lab.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"
#include "web_run.h"
#include "web_server.h"

#define WEB_RUN_LISTEN "127.0.0.1:9466"

/* A server of the page of a run. */
struct web_show {
	const char *command; /* begins its messages */
	struct web_run *run;
	struct web_setup setup;
	struct http_server *server;
	bool started;
	uint64_t told; /* version of the run */
	double told_at;
	sigset_t signals, before;
};

/* Listens, before anything else costs time; 'listen', of 'option', NULL: WEB_RUN_LISTEN. Blocks
 * signals for web_show_wait() (child_signals_block()). Prints errors; web_show_close() in any case.
 */
enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen);
/* Starts the server of the run, with the text of a document of 'weft why' (NULL: none), and prints
 * its address. Prints errors. */
enum weft_exit web_show_start(struct web_show *show, struct web_run *run, const char *why);
/* Waits for a moment and tells viewers what is new. A signal that came, or 0. */
int web_show_wait(struct web_show *show);
void web_show_close(struct web_show *show);

/* weft run --web: runs weft-fabric with the words after the first and shows the run, and its result
 * until a signal arrives. 'json': the file of --json, NULL: none. The configuration is the one of
 * the words. */
int web_show_run(int argc, char **argv, struct run_config *config, const char *file,
	const char *json, const char *listen);

/* A run for the page, for web_run*.c alone. */

struct web_run {
	pthread_mutex_t lock; /* guards everything below */
	struct topology *own; /* the topology of a result; NULL: the caller's */
	const struct topology *topology;
	char name[NAME_MAX + 1];
	char id[24]; /* differs from other programs that had this address */
	unsigned vcs;
	bool running;
	uint64_t version;
	json_t *about;  /* "run" of /topology, without what changes */
	json_t *mean;   /* mean over the whole run */
	json_t *series; /* series of a result; NULL: those of 'live' */
	struct run_stream stream;
	int fd;
	bool begun;              /* the stream has its head */
	struct run_result *live; /* its samples; NULL: those of the result */
	struct run_link_series links;
	bool *known; /* [ways] */
};

/* NULL without memory. */
struct web_run *web_run_make(void);
/* Frees what a result replaces. */
void web_run_forget(struct web_run *run);
/* A sample without data. */
json_t *web_run_empty_sample(const struct web_run *run);

/* A sample of a lab: an event of the page. */

/* A sample from two documents of lab_collect(); the same one twice: without rates ("seconds" 0).
 * The caller's reference. Each direction of a link is a way: 2 i of link i is from its port a to b,
 * 2 i + 1 from b to a.
 *
 * {"seconds", "up", "utilisation": [a way each, null: unknown], "state", "blocked", "stalls",
 * "drops", "retransmissions", "late" (ns, mean), "fill": [a VC each], "roots": [ports], "switches",
 * "hosts", "mapper", "processes", "errors", "errors_count"}
 *
 * "state" to "fill" are objects by the number of the way, with only those that are not "up" or not
 * 0. "fill" is of the buffers that the way fills. "switches" and "hosts" have, by name, what
 * adaptive routing did there if it did anything. */
json_t *web_sample(const struct lab *lab, const json_t *before, const json_t *now, double seconds);

/* The fabric of a lab or a run, for the page that draws it. */

/* 'lab': its name, or that of the result. {"lab", "name", "vcs", "switches", "hosts", "links"}; the
 * caller's reference, NULL without memory. "name" is the topology's ("dragonfly-4-2-2", or that of
 * a file). Switches are [name, stage] (0: none), hosts names, links [port a, port b, bit/s], all in
 * the order of their numbers.
 */
json_t *web_topology(const struct topology *topology, const char *lab, unsigned vcs);

/* The number of the way that starts at the port: 2i of link i from its end a, 2i + 1 from b; -1:
 * none does. */
int64_t web_way_at(const struct topology *topology, const char *port);
