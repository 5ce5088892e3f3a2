/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A process of a lab. weft-switch and weft-nic run part of a lab file's fabric, weft-fabric all of
 * it, until SIGINT or SIGTERM. Telemetry controls it ('weft lab run', 'capture' and 'status'). */

#include <stdatomic.h>
#include <stdbool.h>

#include "base/weft_error.h"
#include "experiment/lab/lab.h"
#include "experiment/lab/lab_plan.h"
#include "experiment/lab/lab_security.h"
#include "port/tsc_clock.h"
#include "real/real_fabric.h"

#define LAB_PROCESS_DEVICES_MAX 4096

struct lab_process_options {
	const char *program; /* name for messages */
	const char *lab_file;
	const char *run_dir;                         /* NULL: /run/weft/NAME */
	const char *device[LAB_PROCESS_DEVICES_MAX]; /* names of switches or hosts */
	unsigned devices;
	enum lab_role role; /* WHOLE: may have no device name, and runs all devices */
	/* Override the file's mapper keys if not NULL. */
	const char *mapper; /* auto, always or never, for the hosts of this process */
	const char *expect; /* expected topology: generator text or path */
	const char *key;    /* path of the fabric key */
	unsigned lcores;    /* 0: one, or for a whole lab one per CPU */
	bool calibrates;    /* WHOLE: prints the dilation that 'auto' selects, and exits */
	struct lab_trust trust;
	/* As in main(). Arguments before "--" are passed to EAL. */
	int argc;
	char **argv;
};

/* Returns true if the program's own options include '--lab'. */
bool lab_process_asked_for(int argc, char **argv);
/* Parses the command line. Exits for --help (0) and errors (2). 'argv' must outlive 'options'. */
void lab_process_parse(
	struct lab_process_options *options, enum lab_role role, int argc, char **argv);

/* Starts EAL, runs, and stops EAL. Prints errors and returns the exit code. */
enum weft_exit lab_process_main(const struct lab_process_options *options);

/* Synchronises start and end of a lab's processes through files in the run directory: they share
 * one clock, and each memif client waits for its servers. */

/* Sets the lab's clock, which the first process starts and the others read, so that time stamps of
 * all processes are comparable. Returns -EINVAL with 'error' set if its dilation differs. */
int lab_clock(const char *run_dir, uint32_t dilation, struct clock *clock, struct error *error);

/* Waits until the servers of all memif links whose client is 'process' are listening, because
 * DPDK's client tries to connect only once. Returns 0, -ETIMEDOUT after 30 s, or -EINTR. */
int lab_wait_servers(const struct lab_plan *plan, unsigned process, const atomic_bool *stop,
	struct error *error);

/* If the process has memif links, waits before its ports are closed. Call when none of its loops
 * runs any more. First waits until the other processes, which received the same signal, have left
 * their loops: when a peer closes, a memif driver unmaps memory that its loop may be reading. Then
 * waits, for at most two seconds, until the servers have closed and the local driver has detected
 * that, because two ends that close at the same time free the same memory twice. */
void lab_wait_peers_gone(const struct lab_plan *plan, unsigned process);

/* The cables of a lab process that 'weft lab apply' changes, read from the copy of the lab file in
 * the run directory. Used only by the leading loop's thread. */

struct lab_applied;

struct lab_cables {
	const char *run_dir;
	struct lab_applied
		*applied; /* all files since the start, because the fabric still refers to them */
};

/* real_fabric_options.recable with a struct lab_cables as 'ctx'. */
int lab_cables_load(void *ctx, struct real_cabling *cabling, struct error *error);
void lab_cables_free(struct lab_cables *cables);
