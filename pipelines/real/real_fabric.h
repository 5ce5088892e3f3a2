/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A fabric, or part of one, on the real clock in one process: switches and interfaces of a
 * topology, connected by in-memory links with rate and delay, and by ethdevs where a link leads to
 * a different process. weft-fabric runs a whole fabric; weft-switch and weft-nic run the devices of
 * a lab assigned to them. The code is the same.
 *
 * Life cycle: real_fabric_create() builds everything (EAL must be running), real_fabric_run() polls
 * until stopped, real_fabric_result() returns the measurements, and real_fabric_destroy() frees
 * everything. Call these from the main thread; devices are distributed over the lcores. */

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

#define REAL_FILES_OF_EDGE 3 /* file descriptors per edge */

struct fabric_routes;
struct real_fabric;

/* A fabric's cables, some of which may have been moved. */
struct real_cabling {
	const struct topology *topology;
	const struct run_config *run;
	const char *const
		*device; /* [2 * link + side]: "shared:PATH:END" for ends in this process */
};

struct real_fabric_options {
	const struct topology *topology;
	const struct run_config *run;
	const char *name; /* prefix of mempool names; short */
	/* Computed routes (fabric_routes.h), taken over by the fabric; NULL: it computes them. */
	struct fabric_routes *routes;
	/* [switch], [host]: devices in this process; NULL: all. */
	const bool *switch_here, *host_here;
	/* [link]: device arguments of links with one end in this process; NULL: no such links. */
	const char *const *external;
	const uint16_t *vlan; /* [link]: VLAN tags of these links; NULL: untagged */
	/* Identifies this run; must differ from the sessions of earlier runs of these devices. */
	uint32_t session;
	uint16_t fabric; /* fabric number in all frames (frame.h); 0: unnamed */
	/* Key for control frames on links to other processes (link_seal.h); NULL: none. */
	const struct link_key *link_key;
	/* Key for the tags of data frames, from host to host (link_seal.h); NULL: no tags. Requires
	 * security.data in the run, so that frames have space for tags. */
	const struct data_tag_key *data_key;
	unsigned lcores; /* number of poll loops, 0: 1; at most EAL's lcores */
	/* Divides switches among loops if there are more loops than switches. */
	bool divides;
	/* Bytes captured per frame; 0: whole frames. */
	uint32_t snap_bytes;
	const struct capture_limits *limits; /* capture file limits; NULL: none */
	bool calibrates; /* calibration: a run ends with its traffic and ignores frames in flight */
	struct run_stream *stream; /* receives each sample immediately; NULL: none */
	/* Clock shared by the processes of a lab; NULL: the fabric's own, which starts now. */
	const struct clock *clock;
	/* Maximum number of programs attached to a host at a time (real_endpoints.h), 0: none; and
	 * the path of their socket. */
	uint16_t endpoints;
	const char *endpoint_socket;
	/* File that preserves 'link' and 'set' commands across restarts; NULL: none. */
	const char *orders;
	/* 'plugs': cables in shared memory can be connected and disconnected while the fabric
	 * serves, for at most 'hosts_max' hosts and 'switches_max' switches. 'recable' gets the
	 * current cabling, which must remain valid until the fabric is destroyed; returns 0, or
	 * -errno with error set. */
	bool plugs;
	uint32_t hosts_max, switches_max;
	int (*recable)(void *ctx, struct real_cabling *cabling, struct error *error);
	void *recable_ctx;
};

/* Checks that a mapper's files can be read: fabric key, expected topology. Call before EAL starts,
 * so that errors are reported immediately. Returns 0, or -errno with error set. */
int real_fabric_check(const struct run_config *run, struct error *error);

/* Returns the maximum memory in MiB that such a fabric needs from EAL. Call before EAL starts. */
unsigned real_fabric_memory_mib(const struct real_fabric_options *options);

/* The objects in 'options' must outlive the fabric. Returns NULL with error set on failure. */
struct real_fabric *real_fabric_create(
	const struct real_fabric_options *options, struct error *error);
void real_fabric_destroy(struct real_fabric *fabric);
/* Like real_fabric_destroy(), but leaves the mbuf pools to the kernel; call before the process
 * exits. DPDK zeroes memory that it frees. That would take longer than everything else, because
 * most of this memory was never used. */
void real_fabric_end(struct real_fabric *fabric);

/* Waits for the links (up to 5 s) and for mapped routes to all hosts (up to 20 s), sends the run
 * file's traffic for 'duration' (WEFT_TIME_NEVER: until stopped), and then waits up to 2 s for
 * packets in flight. '*stop' stops the traffic early; packets in flight are still delivered. */
void real_fabric_run(struct real_fabric *fabric, weft_time duration, const atomic_bool *stop);

/* Sets *time to how long the run has been sending traffic. Returns false if it is still waiting for
 * links and routes. Any thread. */
bool real_fabric_sent_for(const struct real_fabric *fabric, weft_time *time);

/* Serves as part of a lab until '*stop' is set; traffic is sent only on command. Commands arrive
 * through telemetry's /weft/control,TEXT:
 *     traffic start NANOSECONDS    sends the configured traffic for this time and measures it;
 *                                  with a final "loaded", sends the loaded traffic instead
 *     traffic load PATH            loads run.yaml in the directory of PATH and writes errors to
 *                                  PATH (real_traffic_load())
 *     traffic stop
 *     link PORT down               cuts the cable at a local port; 'link PORT up' rejoins it
 *     cables PATH                  moves the cables that real_fabric_options.recable changes,
 *                                  then writes the answer, {} or {"error": text}
 *     report PATH                  writes this part's result as JSON, first to "PATH.part"
 *     counts PATH                  like report, but without the samples; they may be a million
 *     mapper REQUEST               for mapped routes: see control_plane_ask() */
void real_fabric_serve(struct real_fabric *fabric, const atomic_bool *stop);

/* Fills 'result', which must be zeroed; the caller frees it. Returns 0 or -ENOMEM. */
int real_fabric_result(struct real_fabric *fabric, struct run_result *result, struct error *error);
/* Call after the run. Returns 0, or with error set -ENETUNREACH if traffic started without mapped
 * routes to all hosts, -ENOMEM if hosts sent only part of it, or -EINVAL if a schedule did not end.
 */
int real_fabric_check_complete(const struct real_fabric *fabric, struct error *error);

/* Sets whether the loops of a lab's processes outnumber their CPUs. Call before the loops run. */
void real_fabric_set_crowded(struct real_fabric *fabric, bool crowded);

/* Sets which hosts of a lab use this fabric's clock, [host of the topology]. Clocks of different
 * machines are unrelated, so interfaces measure their offsets for latencies. Call between
 * real_fabric_create() and the first frame. By default, all hosts do. Returns 0 or -ENOMEM. */
int real_fabric_set_clocks(
	struct real_fabric *fabric, const bool *host_has_ours, struct error *error);

/* Returns the ports for captures, named "s0:1", "h3:0". */
struct capture_manager *real_fabric_captures(struct real_fabric *fabric);

/* 'dilation: auto': the lowest factor of 1, 2, 5, 10, … with which this machine meets the file's
 * fidelity demand for the fabric's traffic, and one step higher unless that is 1. Each factor is
 * tested with a short run of the fabric without programs and mapper. A factor that meets the demand
 * is tested twice, because a busy machine may be idle for a moment. The extra step is a margin:
 * longer runs on a busy machine encounter longer stalls. Without a demand in the file,
 * run_fidelity_meets() uses Weft's default. */

/* Sets *dilation and prints the lateness for each factor. EAL must be running. 'options' are those
 * of the fabric to be started; 'run' has RUN_DILATION_AUTO. Returns 0, or -errno with error set:
 * -EINVAL if there is no traffic or no data frame arrived in a trial, -EBUSY if no factor is large
 * enough, -EINTR if '*stop' was set. */
int real_calibrate(const struct real_fabric_options *options, const atomic_bool *stop, FILE *out,
	uint32_t *dilation, struct error *error);
