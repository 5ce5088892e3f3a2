/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Other programs of Weft as processes. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes the path of program 'name' ("weft-fabric"). Searches the folder of the environment's
 * WEFT_PROGRAMS, the folder of 'weft' where it is installed, the build tree, and PATH. */
void program_path_find(const char *name, char *out, size_t size);
/* Whether the path that it wrote, or a name in PATH, can be executed. */
bool program_path_exists(const char *path);
/* Replaces this process with that program. Returns only on failure, with errno. */
void program_path_exec(const char *name, char *const argv[]);

/* Monotonic time in seconds. */
double child_clock(void);

/* A number that identifies the build of the program: a hash of its file, or of the version if the
 * file cannot be read. Results of different builds are not mixed. */
uint64_t child_program_mark(const char *name);
/* Signals the process and its process group. */
void child_signal(pid_t pid, int number);

/* Blocks the signals that a program waiting for children waits for: SIGCHLD, and the termination
 * requests SIGINT, SIGTERM and SIGHUP. An ignored SIGHUP (nohup) stays ignored, an ignored SIGCHLD
 * does not. 'before': the previous mask. */
void child_signals_block(sigset_t *signals, sigset_t *before);
/* In a child of 'parent', before it becomes another program: moves it into its own process group,
 * so that Ctrl-C reaches it only through its parent, while it may still write to the terminal, and
 * makes it end with its parent. Sets the signal mask. */
void child_become(pid_t parent, const sigset_t *mask);

/* FNV-1a with 64 bits, to distinguish builds of a program. Not for secrets. */

#define CONTENT_HASH_START 0xcbf29ce484222325u

/* Continues 'hash' with the bytes. */
uint64_t content_hash(uint64_t hash, const void *bytes, size_t length);
