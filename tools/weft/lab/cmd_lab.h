/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What the parts of 'weft lab' share; used by the cmd_lab*.c files only. */

#include <stdbool.h>

#include "commands.h"
#include "lab.h"
#include "lab_query.h"
#include "lab_state.h"
#include "weft_time.h"

#define LAB_ONLY_MAX 64

struct lab_arguments {
	const char *file;
	const char *link;               /* capture, link: "s0:1" */
	const char *word;               /* link: "down", "up" */
	const char *run_dir;            /* NULL: /run/weft/NAME */
	const char *output;             /* NULL: standard output */
	const char *only[LAB_ONLY_MAX]; /* up: processes by a device of theirs */
	unsigned only_count;
	weft_time wait_ps, duration_ps;
	bool json;
	bool dot; /* map */
};

enum weft_exit cmd_lab_up(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_down(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_status(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_run(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_capture(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_map(const struct lab_arguments *arguments);
enum weft_exit cmd_lab_link(const struct lab_arguments *arguments);

/* Ends the processes, removes namespace and run directory; frees 'state'. Returns how many
 * processes had to be killed, or -errno and fault. */
int lab_take_down(struct lab_state *state, struct fault *fault);

/* Opens the lab and the state of the running one. Prints what is wrong; EXIT_BAD_ANSWER if the lab
 * is not up. lab_close() and lab_state_free() after EXIT_DONE. */
enum weft_exit lab_open_running(const struct lab_arguments *arguments, const char *command,
	struct lab *lab, struct lab_state *state);

/* A question to the process that holds 'device'; NULL: it does not run here. */
const struct lab_record *lab_record_of(
	const struct lab *lab, const struct lab_state *state, const char *device);

/* SIGINT and SIGTERM set a flag instead of ending the program. */
void lab_catch_signals(void);
bool lab_interrupted(void);
