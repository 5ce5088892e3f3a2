/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The processes of a lab during 'weft lab run': commands to them, and their counts. They count from
 * their start, so the counts before the run are subtracted. */

#include "cmd_lab.h"
#include "common/output_file.h"
#include "experiment/result/run_result.h"
#include "lab_query.h"
#include "lab_state.h"

#define LAB_RUN_STEP_MS       20
#define LAB_RUN_DRAIN_MOST_MS 60000 /* lab's time: twice what a process waits for messages */
#define LAB_RUN_LOOK_MS       200   /* between two checks whether any process is left */

struct lab_run_asked {
	struct lab_connection connection; /* fd -1: it is no longer queried */
	char why[RUN_REASON_MAX];         /* ... and why */
	json_t *before;                   /* what it had counted before */
	uint64_t stall_ns;                /* how long its loops had stalled at its last report */
};

struct lab_run {
	const struct lab_arguments *arguments;
	struct output_file output; /* where --json writes */
	struct lab lab;
	struct lab_state state;
	struct lab_run_asked *asked;     /* [process of the state] */
	struct lab_obedience *obedience; /* room for as many */
	struct run_result *before, *result;
	struct deadlock_circle circle; /* the first one that was found */
	bool blind;                    /* a process did not answer in the last search */
	json_t *elsewhere;             /* devices of other machines */
	json_t *links_before;          /* lab_run_links() at the start */
	json_t *changes;               /* lab_run_changes() */
};

/* {port: link as reported by its process}, and {process: null} if one does not answer; the caller's
 * reference. */
json_t *lab_run_links(struct lab_run *run);
/* {"links_set", "cables_cut", "restarts", "unknown"} (docs/reference/result-file.md, "Results"),
 * from the links before and after the run; the caller's reference. */
json_t *lab_run_changes(
	const struct lab *lab, const struct lab_state *state, const json_t *before, json_t *now);
/* Prints them as lines of the result; prints nothing if there are none. */
void lab_run_changes_print(const json_t *changes, FILE *out);

/* The time on the lab's clock, which may be dilated, in ms. */
uint64_t lab_run_now_ms(const struct lab_run *run);
/* Some processes run on other machines, so frames that leave this machine may arrive there. */
bool lab_run_is_partial(const struct lab_run *run);
/* True if process i of the state is gone, or does not answer: it is no longer queried. A process
 * that was restarted meanwhile counts as gone, because its counts start anew. */
bool lab_run_lost(struct lab_run *run, unsigned i);
/* The number of processes that still answer. */
unsigned lab_run_count_left(struct lab_run *run);
/* Gives all processes a command at once, so that they start together, however far away their
 * machines are. */
void lab_run_order(struct lab_run *run, const char *text);
/* Makes all processes load the traffic of this run, which the start command requests. */
int lab_run_load(struct lab_run *run, struct error *error);
/* True if some process has not finished its traffic. */
bool lab_run_is_sending(struct lab_run *run);
/* Collects what all processes counted before the run. If they are still sending for an earlier run
 * that was killed, stops that traffic first; -EBUSY if it does not stop. */
int lab_run_collect_quiet(struct lab_run *run, struct error *error);
/* Collects the counts since then into run->result, until everything has arrived, or nothing more
 * will arrive. */
int lab_run_collect_drained(struct lab_run *run, struct error *error);
