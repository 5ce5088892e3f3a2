/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A process of a lab: weft-switch or weft-nic runs its part of a lab file's fabric, weft-fabric all
 * of it, until SIGINT or SIGTERM. 'weft lab run', 'capture' and 'status' control it by telemetry.
 */

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
	const char *program; /* for messages */
	const char *lab_file;
	const char *run_dir;                         /* NULL: /run/weft/NAME */
	const char *device[LAB_PROCESS_DEVICES_MAX]; /* names of switches or hosts */
	unsigned devices;
	enum lab_role role; /* WHOLE: has no device name and runs all devices */
	/* Override the file's mapper keys; NULL: keep them. */
	const char *mapper; /* auto, always, never: for the hosts of this process */
	const char *expect; /* a topology: generator text or path */
	const char *key;    /* path of the fabric key */
	unsigned lcores;    /* 0: one, or one per CPU for a whole lab */
	bool calibrates;    /* WHOLE: prints the dilation that 'auto' chooses, and ends */
	struct lab_trust trust;
	/* As in main(). EAL gets the arguments before "--". */
	int argc;
	char **argv;
};

/* The program's own options include '--lab'. */
bool lab_process_asked_for(int argc, char **argv);
/* Exits for --help (0) and for errors (2). 'argv' must outlive 'options'. */
void lab_process_parse(
	struct lab_process_options *options, enum lab_role role, int argc, char **argv);

/* Starts EAL, runs, stops EAL. Prints errors; returns the exit code. */
enum weft_exit lab_process_main(const struct lab_process_options *options);

/* Synchronises start and end of the processes of a lab through files in the run directory: they
 * agree on one clock, and each memif client waits for its servers. */

/* The lab's clock: the first process starts it and the others read it, so that time stamps of
 * different processes are comparable. Returns -EINVAL with error set: its dilation is different. */
int lab_clock(const char *run_dir, uint32_t dilation, struct clock *clock, struct error *error);

/* Waits until the servers of all memif links on which 'process' is the client are listening: DPDK's
 * client tries to connect only once, when its port is started. -ETIMEDOUT after 30 s, -EINTR. */
int lab_wait_servers(const struct lab_plan *plan, unsigned process, const atomic_bool *stop,
	struct error *error);

/* Waits before ports are closed, if the process has memif links; none of its loops runs any more.
 * First it waits until the other processes, which got the same signal, have left their loops,
 * because a memif driver whose peer closes unmaps memory that its loop may be reading. Then it
 * waits, for at most two seconds, until the servers have closed and the local driver has noticed,
 * because two ends that close at the same time free the same memory twice. */
void lab_wait_peers_gone(const struct lab_plan *plan, unsigned process);

/* The cables of a lab process that 'weft lab apply' changes, read from the copy of the lab file in
 * the run directory. For one thread, the leading loop's. */

struct lab_applied;

struct lab_cables {
	const char *run_dir;
	struct lab_applied *applied; /* all files since the start, because the fabric reads them */
};

/* real_fabric_options.recable, for a struct lab_cables. */
int lab_cables_load(void *ctx, struct real_cabling *cabling, struct error *error);
void lab_cables_free(struct lab_cables *cables);
