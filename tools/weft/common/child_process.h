/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Other programs of Weft as processes. weft-fabric runs as a child with its output in a log. It
 * ends when this program ends. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fault.h"

/* Writes the path of program 'name' ("weft-fabric"). Searches the folder of the environment's
 * WEFT_PROGRAMS, the folder of 'weft' where it is installed, the build tree, and PATH. */
void program_path_find(const char *name, char *out, size_t size);
/* The path that it has written, or a name in PATH, can be executed. */
bool program_path_exists(const char *path);
/* Replaces this process by that program. Returns only on failure, with errno. */
void program_path_exec(const char *name, char *const argv[]);

/* Monotonic time in seconds. */
double child_clock(void);

/* One run of weft-fabric: 'run_file' with a --set for each of 'set'. */
struct child_run {
	const char *run_file;
	const char *const *set; /* "KEY=VALUE" */
	unsigned sets;
	const char *part, *log; /* files of the result and of the output */
	/* Further arguments of srun, as a shell reads them: the run is a job of Slurm. NULL: it is
	 * not. */
	const char *srun;
};

/* 0 and its process; -errno and fault: no such program, or no process. */
int child_start_run(pid_t *pid, const struct child_run *run, struct fault *fault);
/* A number that differs for another build of the program: a hash of its file, or of the version if
 * the file cannot be read. Results of different builds are not mixed. */
uint64_t child_program_mark(const char *name);
/* Signals the process and its process group. */
void child_signal(pid_t pid, int number);

/* Blocks what a program that waits for children waits for: SIGCHLD, and what asks it to end,
 * SIGINT, SIGTERM and SIGHUP. An ignored SIGHUP (nohup) stays ignored, an ignored SIGCHLD does not.
 * 'before': the mask that was.
 */
void child_signals_block(sigset_t *signals, sigset_t *before);
/* In a child of 'parent', before it becomes another program: a process group of its own, so that
 * Ctrl-C reaches it through its parent alone, which may write to the terminal all the same, and an
 * end with its parent. Sets the signal mask. */
void child_become(pid_t parent, const sigset_t *mask);
/* Sets 'fault' to the reason why a process that ended with 'status' of waitpid() left no result,
 * with the last line of its log. */
void child_describe_failure(int status, const char *log, struct fault *fault);

/* Waits for children. Ctrl-C, SIGTERM and SIGHUP ask them to end; a second signal, or 15 s, kills
 * them. */
struct child_watch {
	void (*signal_all)(void *ctx, int number); /* to all children */
	void *ctx;
	bool interrupted;
	/* Private: */
	double kill_at;
	sigset_t signals, before;
};

/* Blocks the signals (child_signals_block()); child_watch_end() restores them. */
void child_watch_begin(struct child_watch *watch);
void child_watch_end(const struct child_watch *watch);
/* Returns when a child has ended, after a signal, or after 0.25 s. */
void child_watch_wait(struct child_watch *watch);
/* Asks all children to end, as Ctrl-C does. */
void child_watch_interrupt(struct child_watch *watch);
