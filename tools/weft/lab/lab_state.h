/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The state of a running lab, in its run directory (/run/weft/LAB): a line per started process, the
 * namespaces that were created, logs, and sockets. 'up' records each namespace and process before
 * creating or starting it, so that 'down' and the next 'up' find everything even if 'up' is killed.
 * The state is the first file created in the directory and the last one removed. */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/weft_error.h"
#include "experiment/lab/lab_plan.h"
#include "lab_remote.h"

#define LAB_NETNS_MAX 64

struct lab_record {
	char name[TOPOLOGY_NAME_MAX];
	char program[32]; /* "weft-switch" */
	char prefix[128]; /* its EAL's prefix */
	pid_t pid;
	uint64_t start;    /* start time in ticks since boot; distinguishes the process from a later
			      one with the same id */
	unsigned restarts; /* how often 'up' has restarted it since the lab came up */
	/* For a lab queried from its console (lab_remotes.h): the machine that runs the process;
	 * NULL in the state of this machine. */
	struct lab_remote *remote;
	uint64_t cpu_ns; /* CPU time used there as of the last query of the machine */
};

struct lab_state {
	char dir[256];
	/* Network namespaces that this lab or its processes created. */
	unsigned netns_count;
	char (*netns)[LAB_NETNS_MAX];
	/* Name of the uplink's interface and nftables table (lab_interfaces.c), in the namespace of
	 * the commands; "": none. */
	char uplink[16];
	unsigned processes;
	struct lab_record *process;
	bool starting; /* 'up' has not finished; if 'up' is no longer running, it was killed */
	/* Consoles only: a session with each machine in the lab file. */
	unsigned remotes;
	struct lab_remote *remote;
};

/* Creates the folders above 'path', none of which may be in a folder that another user can change
 * (private_dir.h). Returns 0, or -errno with error set. */
int lab_make_parents(const char *path, struct error *error);

/* Creates the directory, which no other user can change, and in it only the state of a lab that is
 * starting. Returns -EEXIST if it exists. */
int lab_state_create(struct lab_state *state, const char *dir, struct error *error);
/* Returns -ENOENT if no such lab is up, or -EPERM if another user can change the directory
 * (private_dir.h). */
int lab_state_load(struct lab_state *state, const char *dir, struct error *error);
/* Returns whether the directory has a state, whatever its contents. */
bool lab_state_exists(const char *dir);
/* Writes the whole state atomically. */
int lab_state_save(const struct lab_state *state, struct error *error);
/* Removes the directory, and the files in it that labs create. */
int lab_state_remove(const struct lab_state *state, struct error *error);
/* Removes a directory that a killed command left without a state. Returns false if it does not
 * exist, or has other files. */
bool lab_state_remove_empty(const char *dir);
void lab_state_free(struct lab_state *state);

/* Appends the record, or replaces the one with this name; fills in 'start' from the process table.
 * Returns 0 or -ENOMEM. */
int lab_state_add(struct lab_state *state, const struct lab_record *record);

/* Removes the record of this name. */
void lab_state_drop(struct lab_state *state, const char *name);

/* Adds a namespace that 'down' must remove, unless it is already in the list. Returns 0 or
 * -ENOMEM. */
int lab_state_add_netns(struct lab_state *state, const char *netns);

/* Returns whether the process exists, is the recorded one, and has not ended; false if its machine
 * cannot be queried. */
bool lab_record_alive(const struct lab_record *record);
/* Returns whether this is a process on this machine that was stopped by a signal or a debugger. */
bool lab_record_stopped(const struct lab_record *record);
/* Returns whether a process that did not answer ends within a second: a killed process closes its
 * socket before its memory is freed. If the process is on another machine, the query may take
 * LAB_REMOTE_CALL_MS longer (lab_remote.h). Returns true if that machine does not answer, because
 * the process is then unreachable. */
bool lab_record_dies(const struct lab_record *record);
/* Returns the CPU time used by all threads of the process; 0 if the process no longer exists. */
uint64_t lab_record_cpu_ns(const struct lab_record *record);
/* Returns the number of live processes of the lab. */
unsigned lab_state_count_alive(const struct lab_state *state);
/* DIR/NAME.log */
void lab_record_log(
	const struct lab_state *state, const struct lab_record *record, char *out, size_t size);

/* Devices of the lab on other machines, whose processes were never started here. A list of names,
 * switches first. */

/* Returns the caller's reference; NULL if out of memory. */
json_t *lab_elsewhere(const struct lab_plan *plan, const struct lab_state *state);

/* Returns whether 'device' is in the list. */
bool lab_elsewhere_has(const json_t *elsewhere, const char *device);

/* Prints "spine, h2, h3"; a long list is cut to its first eight names and "and 12 more". */
void lab_elsewhere_print(const json_t *elsewhere, FILE *out);

/* The log of a process of this machine. */

#define LAB_LOG_MAX (1u << 20) /* bytes; only the end of a longer log is printed */

/* Returns the text with '?' for non-ASCII bytes, which the caller frees; NULL with error set. */
char *lab_log_read(
	const struct lab_state *state, const struct lab_record *record, struct error *error);

/* Moves the last error in a log, which is a line "PROGRAM: TEXT" other than a warning, to 'error':
 * the line is removed from the log. Returns false if there is none. */
bool lab_log_take_error(char *log, const char *program, char error[ERROR_TEXT]);
