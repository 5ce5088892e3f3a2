/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page of a run, for the commands that show one. */

#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "common/commands.h"
#include "experiment/lab/lab.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"
#include "web_server.h"

#define WEB_RUN_LISTEN "127.0.0.1:9466"

/* A server for the page of a run. */
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

/* Listens, before anything else takes time. 'listen' is the value of 'option'; NULL:
 * WEB_RUN_LISTEN. Blocks signals for web_show_wait() (child_signals_block()). Prints errors; call
 * web_show_close() in any case. */
enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen);
/* Starts the server of the run, with the text of a document of 'weft why' (NULL: none), and prints
 * its address. Prints errors. */
enum weft_exit web_show_start(struct web_show *show, struct web_run *run, const char *why);
/* Waits a moment and sends changes to the viewers. Returns a signal that arrived, or 0. */
int web_show_wait(struct web_show *show);
void web_show_close(struct web_show *show);

/* weft run --web: runs weft-fabric with the arguments after the first one, and shows the run, then
 * its result, until a signal arrives. 'json': the file for --json, or NULL. The configuration must
 * match the arguments. */
int web_show_run(int argc, char **argv, struct run_config *config, const char *file,
	const char *json, const char *listen);

/* A run for the page, used only by web_run*.c. */

struct web_run {
	pthread_mutex_t lock; /* guards everything below */
	struct topology *own; /* topology of a result; NULL: the caller's */
	const struct topology *topology;
	char name[NAME_MAX + 1];
	char id[24]; /* distinguishes this program from others that used the address */
	unsigned vcs;
	bool running;
	uint64_t version;
	json_t *about;  /* constant part of "run" in /topology */
	json_t *mean;   /* mean over the whole run */
	json_t *series; /* series of a result; NULL: taken from 'live' */
	struct run_stream stream;
	int fd;
	bool begun;              /* the stream's header was read */
	struct run_result *live; /* samples of the run; NULL: the result's */
	struct run_link_series links;
	bool *known; /* [ways] */
};

/* Returns NULL if out of memory. */
struct web_run *web_run_make(void);
/* Frees data that the result contains. */
void web_run_forget(struct web_run *run);
/* A sample without data. */
json_t *web_run_empty_sample(const struct web_run *run);

/* A sample of a lab, sent as an event of the page. */

/* Returns a sample from two documents of lab_collect(), the caller's reference; without rates
 * ("seconds" 0) if both are the same document. Each direction of a link is a way: 2 i of link i is
 * from its port a to b, 2 i + 1 from b to a.
 *
 * {"seconds", "up", "utilisation": [one per way, null: unknown], "state", "blocked", "stalls",
 * "drops", "retransmissions", "late" (ns, mean), "fill": [one per VC], "roots": [ports],
 * "switches", "hosts", "mapper", "processes", "errors", "errors_count"}
 *
 * "state" to "fill" are objects by the number of the way, and omit values that are "up" or 0.
 * "fill" is the fill level of the buffer at the way's far end. "switches" and "hosts" contain, by
 * name, the counts of adaptive routing that are not zero. */
json_t *web_sample(const struct lab *lab, const json_t *before, const json_t *now, double seconds);

/* The fabric of a lab or a run, for the page that draws it. */

/* Returns {"lab", "name", "vcs", "switches", "hosts", "links"}, the caller's reference, or NULL if
 * out of memory. 'lab': name of the lab or result. "name" is the topology's ("dragonfly-4-2-2", or
 * a file's name). Switches are [name, stage] (0: none), hosts names, links [port a, port b, bit/s],
 * all in the order of their numbers. */
json_t *web_topology(const struct topology *topology, const char *lab, unsigned vcs);

/* Returns the number of the way that starts at the port: 2 i for end a of link i, 2 i + 1 for end
 * b; -1 if there is none. */
int64_t web_way_at(const struct topology *topology, const char *port);

/* A run for the page that draws it: first from the stream of its samples (run_stream.h), and when
 * the run has ended, from its result. The command's thread follows the run; the server's thread
 * requests documents. */

struct web_run;

/* Creates a run that is starting, named after its file. Its samples arrive in the open file 'fd',
 * which remains the caller's. Returns NULL if out of memory. */
struct web_run *web_run_create(
	const struct run_config *config, const struct topology *topology, const char *name, int fd);
void web_run_destroy(struct web_run *run);

/* Reads the samples that have arrived. Returns 1 if the stream has started, 0 if not, or -EINVAL if
 * it is from a different build. Samples are omitted if out of memory. */
int web_run_follow(struct web_run *run);

/* Call when the run has ended: shows the result file from now on. Returns 0, or -errno with error
 * set and nothing changed: no such file, not a result, or its topology no longer exists. */
int web_run_end(struct web_run *run, const char *path, struct error *error);
/* Creates a run that is known only from its result. Returns NULL with errno and error set. */
struct web_run *web_run_read(const char *path, struct error *error);

/* Returns the event: {"id", "state": "running" or "result", "samples"}, from malloc(); NULL if
 * out of memory. */
char *web_run_event(struct web_run *run);
/* Returns a number that changes whenever the event changes. */
uint64_t web_run_version(struct web_run *run);

/* clang-format off */
/* Returns a document of the page as text, from malloc(); NULL if path or numbers are unknown.
 *
 * 	/topology   web_topology() and "run": {"id", "state", "samples", "link_series", "clock", "seed",
 * 	            "messages", "throughput", "latency_ns", "fidelity", "checks", "measured_ns",
 * 	            "incomplete", "waiting_ns": {switch: mean}}; null or absent: not known (yet). While a run
 * 	            counts messages, also "counts": {"warmup", "messages"}
 * 	/series     objects of "series" of the result from 'number' on, at most 4096
 * 	/sample     web_sample() for sample 'number', with the "stalls" in it
 * 	/mean       the same for the whole run; on the real clock, for the link samples
 * 	/link       {"utilisation", "blocked"} of link 'number', in both directions, in the samples from
 * 	            'from' on, at most 4096 */
/* clang-format on */
char *web_run_document(void *run, const char *path, uint64_t number, uint64_t from);
