/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A fabric, or a part of one, on the real clock in one process: switches and interfaces of a
 * topology, joined by in-memory links with rate and delay, and by ethdevs where a link leads to
 * another process. weft-fabric holds a whole fabric; weft-switch and weft-nic in a lab hold the
 * devices that are assigned to them. The code is the same.
 *
 * Life: real_fabric_create() builds everything (EAL is running), real_fabric_run() polls until it
 * is stopped, real_fabric_result() returns what was measured, real_fabric_destroy() frees all. The
 * main thread calls these; with several lcores the devices are shared out among them. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "capture/capture.h"
#include "experiment/result/run_result.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "link/link_seal.h"
#include "port/tsc_clock.h"
#include "topo/topology.h"

#define REAL_FILES_OF_EDGE 3 /* descriptors */

struct fabric_routes;
struct real_fabric;

/* The cables of a fabric that may have been moved. */
struct real_cabling {
	const struct topology *topology;
	const struct run_config *run;
	const char *const *device; /* [2 * link + side]: "shared:PATH:END" of the ends here */
};

struct real_fabric_options {
	const struct topology *topology;
	const struct run_config *run;
	const char *name; /* prefix of mempool names; short */
	/* Computed routes (fabric_routes.h), whose ownership passes to the fabric; NULL: it
	 * computes them. */
	struct fabric_routes *routes;
	/* Devices that live here; NULL: all. [switch], [host] */
	const bool *switch_here, *host_here;
	/* Device arguments of links with one end here and one elsewhere, by [link]; NULL if there
	 * are no such links. */
	const char *const *external;
	const uint16_t *vlan; /* [link]: their VLAN tags; NULL: none has tags */
	/* Sessions must differ from those in earlier runs of these devices. */
	uint32_t session;
	uint16_t fabric; /* number in all frames (frame.h); 0: no name */
	/* For the control frames on links to other processes (link_seal.h); NULL: none. */
	const struct link_key *link_key;
	/* Data frames carry tags from host to host (link_seal.h); NULL: no tags. Only if the run
	 * has security.data, so that frames have room for them. */
	const struct data_tag_key *data_key;
	unsigned lcores; /* poll loops; 0: 1. EAL was started with as many */
	/* If there are more loops than switches, switches are divided. */
	bool divides;
	/* Bytes kept of each captured frame; 0: whole frames. */
	uint32_t snap_bytes;
	const struct capture_limits *limits; /* files of captures; NULL: none */
	bool calibrates;           /* a run ends with its traffic; frames in flight are ignored */
	struct run_stream *stream; /* gets each sample of a run at once; NULL: none */
	/* The processes of a lab share a clock; NULL: the fabric has its own, which starts now. */
	const struct clock *clock;
	/* Number of programs that may be attached to a host at a time (real_endpoints.h), 0: none;
	 * and the path of the socket for them. */
	uint16_t endpoints;
	const char *endpoint_socket;
	/* File that keeps 'link' and 'set' commands for the next start of the process; NULL:
	 * none. */
	const char *orders;
	/* Cables in shared memory can be plugged in and pulled out while the fabric serves. These
	 * are then the maximum numbers of hosts and switches. 'recable' gets the current cabling,
	 * which stays valid until the fabric is destroyed. It returns 0, or -errno with error
	 * set. */
	bool plugs;
	uint32_t hosts_max, switches_max;
	int (*recable)(void *ctx, struct real_cabling *cabling, struct error *error);
	void *recable_ctx;
};

/* Checks that a mapper's files can be read: fabric key, expected topology. Returns 0 or -errno with
 * fault set. Call it before EAL runs, so that the user sees the error at once. */
int real_fabric_check(const struct run_config *run, struct error *error);

/* Maximum memory in MiB that such a fabric needs from EAL. Call it before EAL runs. */
unsigned real_fabric_memory_mib(const struct real_fabric_options *options);

/* Returns NULL with error set on failure. Everything that 'options' points to must outlive the
 * fabric. */
struct real_fabric *real_fabric_create(
	const struct real_fabric_options *options, struct error *error);
void real_fabric_destroy(struct real_fabric *fabric);
/* Like real_fabric_destroy(), for use before the process exits: leaves the mbuf pools to the
 * kernel. DPDK writes zeros over memory that it frees, which would take longer than everything
 * else, because most of that memory was never used. */
void real_fabric_end(struct real_fabric *fabric);

/* Waits for the links (5 s at most) and for mapped routes to all hosts (20 s at most), then sends
 * the run file's traffic for 'duration', then waits until packets in flight have arrived, 2 s at
 * most. '*stop' ends it early: traffic stops, packets in flight are still delivered. 'duration'
 * WEFT_TIME_NEVER: until stopped. */
void real_fabric_run(struct real_fabric *fabric, weft_time duration, const atomic_bool *stop);

/* How long the run has been sending traffic. Returns false if it still waits for links and routes.
 * Any thread. */
bool real_fabric_sent_for(const struct real_fabric *fabric, weft_time *time);

/* Serves as a part of a lab until '*stop' is set: traffic flows only on command. Commands arrive
 * through telemetry's /weft/control,TEXT:
 *     traffic start NANOSECONDS    sends the traffic section for this time and measures; with
 *                                  "loaded" after it, sends the loaded traffic instead
 *     traffic load PATH            loads run.yaml beside PATH and writes errors in it to PATH
 *                                  (real_traffic_load())
 *     traffic stop
 *     link PORT down               cuts the cable at a port that is here, link PORT up joins it
 *     cables PATH                  moves the cables that real_fabric_options.recable moves, and
 *                                  then writes the answer, {} or {"error": text}
 *     report PATH                  writes this part's result as JSON, and "PATH.part" first
 *     counts PATH                  the same without the samples, of which there may be a million
 *     mapper REQUEST               with mapped routes: see control_plane_ask() */
void real_fabric_serve(struct real_fabric *fabric, const atomic_bool *stop);

/* Fills 'result', which is zeroed; the caller frees it. */
int real_fabric_result(struct real_fabric *fabric, struct run_result *result, struct error *error);
/* After the run: returns 0, or -EINVAL with the reason: a schedule has not ended, or traffic
 * started without mapped routes to all hosts. */
int real_fabric_check_complete(const struct real_fabric *fabric, struct error *error);

/* Other processes of a lab have poll loops on these CPUs, so there are more loops than CPUs. Call
 * before the loops run. */
void real_fabric_set_crowded(struct real_fabric *fabric, bool crowded);

/* Sets which hosts of a lab use this fabric's clock, [host of the topology]: clocks of different
 * machines are unrelated, so interfaces measure their offsets, for latencies. Call after
 * real_fabric_create(), before the first frame; without this call all hosts use it. May return
 * -ENOMEM. */
int real_fabric_set_clocks(
	struct real_fabric *fabric, const bool *host_has_ours, struct error *error);

/* The ports, for captures: "s0:1", "h3:0". */
struct capture_manager *real_fabric_captures(struct real_fabric *fabric);

/* 'dilation: auto': the smallest of 1, 2, 5, 10, … with which this machine meets the file's demand
 * for the traffic of a fabric, and one step higher unless that is 1. Each factor is tried with a
 * short run of the fabric itself, without programs and mapper. A factor that meets the demand is
 * tried twice, because a busy machine may be idle for a moment. The extra step is a margin: trials
 * are short, and a longer run on a busy machine meets longer stalls. Without a demand in the file,
 * run_fidelity_meets() uses Weft's. */

/* EAL is running. 'options' belong to the fabric that will be started; 'run' has RUN_DILATION_AUTO.
 * Fills 'dilation', and prints the lateness with each factor. Returns 0; -EINVAL: no traffic, or no
 * data frame arrived in a trial; -EBUSY: no factor is large enough; -EINTR: '*stop' was set; or
 * another -errno. All set fault. */
int real_calibrate(const struct real_fabric_options *options, const atomic_bool *stop, FILE *out,
	uint32_t *dilation, struct error *error);
