/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Everything that a lab reports about itself, in one document: 'weft lab status --json' is this
 * document, and top and metrics are made from it. Blocks for some seconds if processes do not
 * answer. After that time, or after a signal, the remaining processes are not queried. No loop of
 * the lab waits for a query. */

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "experiment/lab/lab.h"
#include "lab/cmd_lab.h"
#include "lab/lab_query.h"
#include "lab/lab_state.h"

/* Returns {"lab", "up", "processes", "switches", "nics", "ports", "congestion", "loops", "links",
 * "clocks_total", "elsewhere", "mapping", "edges", "starved" (lab_starved())}; the caller's
 * reference. 'pairs': includes "clocks" (lab_query.h), which needs more requests. */
json_t *lab_collect(const struct lab *lab, const struct lab_state *state, bool pairs);

/* Like lab_collect(), without other machines, with counters since the processes started. */
json_t *lab_collect_raw(const struct lab *lab, const struct lab_state *state);

/* File in the run directory with the counters at the last 'weft lab clear'. The processes keep
 * counting, so runs and other readers of their telemetry are not affected. */
#define LAB_CLEARED_FILE "cleared.json"

/* Subtracts the counters at the last 'clear', for processes that have been running since then.
 * Gauges and latencies stay unchanged. */
void lab_cleared_subtract(const struct lab *lab, const struct lab_state *state, json_t *all);

/* Returns the number of entries in the list whose "state" differs from 'wanted'. */
unsigned lab_count_not(const json_t *list, const char *wanted);

/* Whether the machine is the cause of the lab's errors. */

/* Error counters that are not 0, from a document of lab_collect(). */

/* Returns [{"device", "counter", "unit", "meaning", "value", "grown"}, …], the caller's reference.
 * Switches are listed by port; a link only has the counters that its port does not have. 'before'
 * (NULL: none): an earlier document; "grown" is the difference, and grown entries come first. */
json_t *lab_errors(const json_t *all, const json_t *before);

/* Text in lines of limited width. */

#define FOLD_COLUMNS 80

/* Prints the text; lines longer than 'columns' are wrapped, at a space if possible, and continue
 * indented by four columns. UTF-8 is counted in characters. */
void fold_print(const char *text, unsigned columns, FILE *out);

/* The rates of a lab between two documents of lab_collect(): one line of 'weft lab top
 * --json-lines'. */

/* Returns {"lab", "up", "starved", "dilation", "seconds", "errors", "links", "hosts", "endpoints",
 * "mapper", "processes"}; the caller's reference. 'seconds' are real time; the seconds in the
 * document and in its rates are the lab's time. Each direction of a link is an entry of "links",
 * those with errors first, then the busiest: "from", "to", "state", "rate_bps" with preamble and
 * gap, "capacity_bps", "utilisation" and "blocked" (shares of the time), "vc_fill" (the fullest
 * VC of the buffer that it fills), "stalls_per_s", "drops_per_s" (on arrival),
 * "retransmissions_per_s" (of a host) and "late_ns" (mean lateness of its arrivals). A value that
 * this machine cannot know is null. */
json_t *lab_rates(const struct lab *lab, const json_t *before, const json_t *now, double seconds);

/* The path MTU of a lab's links: each end of a link pads a hello to the length of the lab's longest
 * frame, and the other end counts it and answers with a padded hello. Traffic continues. */

/* Returns [{"port", "peer", "dark", "passes"}, …] for each direction that starts at a process of
 * 'state'. A link is "dark" if it is cut or has no carrier. "passes" is null if the link is dark,
 * or if no frame was sent; if the other end belongs to another machine's part, it applies to both
 * directions. Blocks for up to nine hello intervals and three seconds, or until a signal. The
 * caller's reference. */
json_t *lab_probe(const struct lab *lab, const struct lab_state *state);

/* Describes an entry in fault->text. Returns 0, -EMSGSIZE if frames do not pass, or -ENODATA
 * if that is unknown. */
#define LAB_PROBE_FIX \
	"raise the MTU of the bridges, switches and routers on the path, or lower nic.mtu"
int lab_probe_judge(const struct lab *lab, const json_t *entry, struct error *error);

/* A lab that is polled, for top and metrics. The lab may go down in the meantime. */

struct lab_watch {
	struct lab lab;
	struct lab_state state;
	/* Identifies the file that the lab keeps; if it changes, the name belongs to another
	 * lab. */
	uint64_t kept_inode, kept_ns;
};

/* Opens the lab; prints errors. Call lab_watch_close() after EXIT_DONE. */
enum weft_exit lab_watch_open(
	struct lab_watch *watch, const struct lab_arguments *arguments, const char *command);
void lab_watch_close(struct lab_watch *watch);

/* Returns the document of lab_collect() for the processes that currently belong to the lab, the
 * caller's reference. Returns NULL with error set if the lab is no longer up (-ENOENT in 'result')
 * or its state cannot be read. */
json_t *lab_watch_ask(struct lab_watch *watch, int *result, struct error *error);

/* Returns true if the lab was neither taken down nor restarted from another file. */
bool lab_watch_is_up(const struct lab_watch *watch);

/* Monotonic time in ns. */
uint64_t lab_watch_now_ns(void);
