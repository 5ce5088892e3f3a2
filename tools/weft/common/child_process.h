/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs other Weft programs as processes. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes the path of program 'name' ("weft-fabric"). Searches the folder of the environment's
 * WEFT_PROGRAMS, the folder of 'weft' where it is installed, the build tree, and PATH. */
void program_path_find(const char *name, char *out, size_t size);
/* Returns whether a path from program_path_find(), or a name in PATH, is executable. */
bool program_path_exists(const char *path);
/* Replaces this process with the program. Returns only on failure, with errno set. */
void program_path_exec(const char *name, char *const argv[]);

/* Returns the monotonic time in seconds. */
double child_clock(void);

/* Returns a number that identifies the build of the program: a hash of its file, or of the version
 * if the file cannot be read. Used to avoid mixing results of different builds. */
uint64_t child_program_mark(const char *name);
/* Signals the process and its process group. */
void child_signal(pid_t pid, int number);

/* Blocks the signals for which a program with children waits: SIGCHLD, and the termination requests
 * SIGINT, SIGTERM and SIGHUP. An ignored SIGHUP (nohup) stays ignored; an ignored SIGCHLD does not.
 * 'before' receives the previous mask. */
void child_signals_block(sigset_t *signals, sigset_t *before);
/* Call in a child of 'parent' before it executes another program. Moves the child into its own
 * process group, so that Ctrl-C reaches it only through its parent. The child may still write to
 * the terminal, and ends with its parent. Sets the signal mask. */
void child_become(pid_t parent, const sigset_t *mask);

/* 64-bit FNV-1a, to distinguish builds of a program. Not for security. */

#define CONTENT_HASH_START 0xcbf29ce484222325u

/* Returns 'hash' continued with the bytes. */
uint64_t content_hash(uint64_t hash, const void *bytes, size_t length);
