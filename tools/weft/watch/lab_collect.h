/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Everything that a lab reports about itself, in one document: 'weft lab status --json' is this
 * document, and top and metrics are made from it. Blocks for some seconds if processes do not
 * answer; after that long, or a signal, the others are not asked. No loop of the lab waits for
 * it. */

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_time.h"
#include "experiment/lab/lab.h"
#include "lab/lab_query.h"

/* {"lab", "up", "processes", "switches", "nics", "ports", "congestion", "loops", "links",
 * "clocks_total", "elsewhere", "mapping", "edges", "starved" (lab_starved())}; the caller's
 * reference.
 * 'pairs': also "clocks" (lab_clocks.h), which takes more requests. */
json_t *lab_collect(const struct lab *lab, const struct lab_state *state, bool pairs);

/* The same without other machines, and with counters since the processes started. */
json_t *lab_collect_raw(const struct lab *lab, const struct lab_state *state);

/* Run-directory file with the counters at the last 'weft lab clear'. The processes keep counting,
 * so runs and other readers of their telemetry are not affected. */
#define LAB_CLEARED_FILE "cleared.json"

/* 'all': from lab_collect_raw(). 0, or -errno and error. */
int lab_cleared_write(const struct lab_state *state, const json_t *all, struct error *error);

/* Subtracts the counters at the last 'clear' for processes that have run since. Gauges and
 * latencies stay. */
void lab_cleared_subtract(const struct lab *lab, const struct lab_state *state, json_t *all);

/* Entries of the list whose "state" is a different one. */
unsigned lab_count_not(const json_t *list, const char *wanted);

/* Whether the machine is the cause of the lab's errors. */

/* "s3's loop was away 410 ms": a loop stalled for more than three hellos, and links went down or
 * messages were refused, other than because of a cable that is or was cut by command. "" if not.
 * From a document of lab_collect(); the caller's reference. */
json_t *lab_starved(const json_t *all, weft_time hello_ps);

/* Error counters that are not 0, from a document of lab_collect(). */

/* [{"device", "counter", "unit", "meaning", "value", "grown"}, …], the caller's reference. A switch
 * is listed by port; a link only has counters that its port does not have. 'before' (NULL: none):
 * an earlier document; "grown" is the difference, and entries that have grown come first. */
json_t *lab_errors(const json_t *all, const json_t *before);

/* Text in lines of limited width. */

#define FOLD_COLUMNS 80

/* Prints the text; lines above 'columns' are wrapped, at a space if there is one, and continue four
 * columns further in. UTF-8 counts by characters. */
void fold_print(const char *text, unsigned columns, FILE *out);
