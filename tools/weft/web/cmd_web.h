/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The page of a run, for the commands that show one. */

#include <signal.h>

#include "commands.h"
#include "run_config.h"
#include "topology.h"
#include "web_run.h"
#include "web_server.h"

#define WEB_RUN_LISTEN "127.0.0.1:9466"

/* A server of the page of a run. */
struct web_show {
	const char *command; /* begins its messages */
	struct web_run *run;
	struct web_guard guard;
	struct web_setup setup;
	struct web_server *server;
	int fd; /* listens; -1: the server has it */
	bool v6;
	uint64_t told; /* version of the run */
	double told_at;
	sigset_t signals, before;
};

/* Listens, before anything else costs time; 'listen', of 'option', NULL: WEB_RUN_LISTEN. Blocks
 * signals for web_show_wait() (child_signals_block()). Prints errors; web_show_close() in any case.
 */
enum weft_exit web_show_open(
	struct web_show *show, const char *command, const char *option, const char *listen);
/* Starts the server of the run, and prints its address. Prints errors. */
enum weft_exit web_show_start(struct web_show *show, struct web_run *run);
/* Waits for a moment and tells viewers what is new. A signal that came, or 0. */
int web_show_wait(struct web_show *show);
void web_show_close(struct web_show *show);

/* weft run --web: runs weft-fabric with the words after the first and shows the run, and its result
 * until a signal comes. 'json': the file of --json, NULL: none. The configuration is that of the
 * words. */
int web_show_run(int argc, char **argv, struct run_config *config, const char *file,
	const char *json, const char *listen);
