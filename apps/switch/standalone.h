/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A stand-alone switch, without a lab: its port i is EAL's i-th ethdev. EAL is running; the main
 * thread (main lcore) calls all functions and runs the switch's loop, or that of its first part;
 * the other lcores run those of the others (standalone_lcores.h).
 */

#include <stdatomic.h>
#include <stdio.h>

#include "capture.h"
#include "fault.h"
#include "forwarding_table.h"
#include "options.h"
#include "poll_division.h"
#include "poll_switch.h"
#include "port_profile.h"
#include "run_config.h"
#include "switch_metrics.h"
#include "telemetry.h"
#include "tsc_clock.h"

/* Measurements of a loop. */
struct standalone_wall {
	uint64_t turns, idle_turns;
	uint64_t tsc_cycles;
	double seconds, cpu_seconds;
};

struct standalone {
	const struct switch_options *options;
	int argc; /* the whole command line */
	char **argv;
	struct clock clock;
	unsigned ports;
	struct port port[RTE_MAX_ETHPORTS];
	struct port_profile profile[RTE_MAX_ETHPORTS]; /* in front of the ports with --profile */
	char device[RTE_MAX_ETHPORTS][64];
	struct run_config run; /* what the options say in a run file's terms */
	struct rte_mempool *pool, *control_pool;
	struct forwarding_table table;
	uint64_t *alternatives;         /* by destination, with --adaptive */
	struct poll_division *division; /* NULL: one core */
	struct weft_switch *sw;         /* or that of its first part, as 'ps' */
	struct poll_switch *ps;
	struct capture_manager *captures;
	struct telemetry *telemetry;
	struct switch_metrics_shown shown;
	struct standalone_wall wall[SWITCH_PARTS_MAX]; /* of each loop */
	_Atomic uint64_t moved;                        /* frames, by all loops */
	atomic_bool halt;                              /* all loops end */
};

/* Opens the ports and builds the switch; 'argc', 'argv': of main(). NULL with errno and fault. */
struct standalone *standalone_create(
	const struct switch_options *options, int argc, char **argv, struct fault *fault);
/* Memory for EAL, before it starts: counts each port on the command line as a NIC. */
unsigned standalone_memory_mib(const struct switch_options *options, int argc, char **argv);
void standalone_destroy(struct standalone *standalone);

/* Polls until --duration or --frames is reached, or '*stop'. 0, or -errno and fault. */
int standalone_run(struct standalone *standalone, const atomic_bool *stop, struct fault *fault);

/* The loop of a port. */
static inline struct poll_switch *standalone_owner(
	const struct standalone *standalone, unsigned port)
{
	return standalone->division == NULL ? standalone->ps
					    : poll_division_owner(standalone->division, port);
}

/* One iteration of all loops, in this thread. */
void standalone_poll_all(struct standalone *standalone, weft_time now);

/* As switch_check() and switch_stored_packets(). */
const char *standalone_check(const struct standalone *standalone);
uint64_t standalone_stored(const struct standalone *standalone);

/* ---- result.c: the result, as one JSON document or as a table for people. */

/* 0, or -ENOMEM or -EIO. */
int result_print_json(const struct standalone *standalone, FILE *out);
void result_print(const struct standalone *standalone, FILE *out);
