/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The processes of a lab during 'weft lab run': commands to them, and their counts. Processes count
 * from their own start, so the counts before the run are subtracted. */

#include "cmd_lab.h"
#include "common/output_file.h"
#include "experiment/result/run_result.h"
#include "lab_query.h"
#include "lab_state.h"

#define LAB_RUN_STEP_MS       20
#define LAB_RUN_DRAIN_MOST_MS 60000 /* lab time: twice as long as a process waits for messages */
#define LAB_RUN_LOOK_MS       200   /* interval between checks for remaining processes */

struct lab_run_asked {
	struct lab_connection connection; /* fd -1: no longer queried */
	char why[RUN_REASON_MAX];         /* the reason why */
	json_t *before;                   /* counts before the run */
	uint64_t stall_ns;                /* longest stall of its loops in the latest report */
};

struct lab_run {
	const struct lab_arguments *arguments;
	struct output_file output; /* output of --json */
	struct lab lab;
	struct lab_state state;
	struct lab_run_asked *asked;     /* [process of the state] */
	struct lab_obedience *obedience; /* array of the same size */
	struct run_result *before, *result;
	struct deadlock_circle circle; /* first deadlock found */
	bool blind;                    /* a process did not answer the latest search */
	json_t *elsewhere;             /* devices on other machines */
	json_t *links_before;          /* lab_run_links() at the start */
	json_t *changes;               /* lab_run_changes() */
};

/* Returns {port: link as reported by its process}, with {process: null} for a process that does not
 * answer; the caller's reference. */
json_t *lab_run_links(struct lab_run *run);
/* Returns {"links_set", "cables_cut", "restarts", "unknown"} (docs/reference/result-file.md,
 * "Results"), from the links before and after the run; the caller's reference. */
json_t *lab_run_changes(
	const struct lab *lab, const struct lab_state *state, const json_t *before, json_t *now);
/* Prints the changes as lines of the result, if there are any. */
void lab_run_changes_print(const json_t *changes, FILE *out);

/* Returns the time on the lab's clock, which may be dilated, in ms. */
uint64_t lab_run_now_ms(const struct lab_run *run);
/* Returns whether some processes run on other machines, where frames sent here may arrive. */
bool lab_run_is_partial(const struct lab_run *run);
/* Returns whether process i of the state has ended or does not answer; it is then no longer
 * queried. A process that was restarted during the run counts as ended, because its counts start at
 * 0. */
bool lab_run_lost(struct lab_run *run, unsigned i);
unsigned lab_run_count_left(struct lab_run *run);
/* Sends a command to all processes concurrently, so that processes on different machines also start
 * together. */
void lab_run_order(struct lab_run *run, const char *text);
/* Makes all processes load the traffic of this run, for a start command with "loaded". */
int lab_run_load(struct lab_run *run, struct error *error);
/* Returns whether a process is still sending its traffic. */
bool lab_run_is_sending(struct lab_run *run);
/* Collects the counts of all processes before the run. If a killed earlier run is still sending,
 * stops its traffic; returns -EBUSY if that fails. */
int lab_run_collect_quiet(struct lab_run *run, struct error *error);
/* Collects the counts of the run into run->result until everything has arrived, or no more arrivals
 * are expected. */
int lab_run_collect_drained(struct lab_run *run, struct error *error);
