/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A stand-alone switch, without a lab: its port i is EAL's i-th ethdev. EAL is running; the main
 * thread (main lcore) calls all functions and runs the loop of the switch or of its first part.
 * Each other lcore runs the loop of one more part. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "capture.h"
#include "fault.h"
#include "options.h"
#include "poll_division.h"
#include "poll_switch.h"
#include "port_profile.h"
#include "run_config.h"
#include "switch_metrics.h"
#include "telemetry.h"
#include "tsc_clock.h"
#include "vc_rule.h"

/* The destination table of a switch that stands alone: from a file of lines 'DESTINATION PORT'
 * (decimal numbers; '#' starts a comment), "modulo:HOSTS", or, with a topology, a route file with
 * tables (lib/route/formats), of which it is one switch's row. */

struct forwarding_table {
	uint8_t *port; /* by destination; SWITCH_PORT_NONE: no route */
	uint32_t hosts;
	struct vc_rule *vc_rule; /* the route file's; NULL: none */
	uint32_t vc_rule_at;     /* this switch in it */
};

struct forwarding_request {
	const char *from;     /* NULL: an empty table */
	const char *topology; /* NULL: 'from' is no route file */
	const char *name;     /* the switch, in the topology */
	unsigned ports, vcs;
};

/* 0, or -errno and fault ("FILE:LINE: …"). */
int forwarding_table_load(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault);
void forwarding_table_free(struct forwarding_table *table);

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

/* A stand-alone switch on several cores: the main lcore runs part 0, and EAL's other lcores run
 * the other parts in order. */

/* Divides the ports, and makes each part on its lcore. 0, or -errno and fault. */
int standalone_divide(
	struct standalone *standalone, const struct switch_config *config, struct fault *fault);

/* Runs the loops until one of them has reached 'end' or all together --frames, or '*stop'. */
void standalone_run_lcores(struct standalone *standalone, weft_time end, const atomic_bool *stop);

/* The devices that the user named before '--' (--vdev, -a). EAL ignores those that it cannot open;
 * a switch must not start without one of its ports. */

/* 0 if each has an ethdev, or -errno and a fault with the first missing one and the reason. */
int asked_devices_check(int argc, char **argv, struct fault *fault);
/* The user excluded devices (-b) and so asked for all others. */
bool asked_devices_all(int argc, char **argv);
/* Number of devices that the user named. */
unsigned asked_devices_count(int argc, char **argv);

/* Initial frames for a measurement with ports that lead back to themselves (net_ring), where they
 * circulate forever. They take credits like any other frame and are received like external ones. */

/* Waits for the links, a second at most, then sends 'frames' frames of 'bytes' to each port, with
 * destinations in the table's order. 0, or -errno and fault: too few credits, no mbufs, a link that
 * does not come up. */
int seed_ports(struct standalone *standalone, unsigned frames, unsigned bytes,
	const atomic_bool *stop, struct fault *fault);
