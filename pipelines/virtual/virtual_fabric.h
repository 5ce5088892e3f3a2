/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A whole fabric on the virtual clock (docs/developer/architecture.md): the switches of lib/switch
 * and the interfaces of lib/nic/datagram/datagram.h, connected by links with exact rates and
 * delays, and driven by one event queue, or by one per thread. No EAL, no clock: the same file and
 * seed give bit-identical results on every machine and for every number of threads.
 *
 * Timing. A frame of L bytes occupies a link for (L + FRAME_WIRE_OVERHEAD) / R. Its header reaches
 * the far end after the link's delay. A switch may forward the frame after its routing delay:
 * immediately with cut-through, or once the tail has arrived with store-and-forward (and where the
 * output is faster than the input). The frame's space is free once its tail has been sent. The
 * credit frame for this space, sent under the same rule as on the real clock, arrives after the
 * delay of the link. Credit frames take no time on the link. */

#include <stdatomic.h>

#include "base/weft_error.h"
#include "experiment/result/run_result.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"
#include "virtual/parallel/ranks.h"

struct virtual_fabric;

/* Reports the progress of a run: virtual time 'done' of 'whole'. */
typedef void (*virtual_progress_fn)(
	void *ctx, weft_time done, weft_time whole, uint64_t packet_hops);

/* Topology and configuration must outlive the fabric. Returns NULL with error set on failure. */
struct virtual_fabric *virtual_fabric_create(
	const struct topology *topology, const struct run_config *run, struct error *error);
/* Returns the time at which the run ended, the same in all ranks. */
weft_time virtual_fabric_now(const struct virtual_fabric *fabric);
void virtual_fabric_destroy(struct virtual_fabric *fabric);

/* Distributes the run over 'ranks' (ranks.h; NULL: one process) with 'workers' threads each; the
 * result does not change. Call once, before the run. Returns 0, or with error set -ENOMEM, or
 * -EINVAL if the run requires one thread (docs/how-to/use-many-cores.md) or has more workers than
 * switches; the fabric then still has one thread. All ranks must call all functions. Rank 0 has the
 * result, and if one rank fails, all fail. */
int virtual_fabric_set_ranks(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error);

/* Also sends each sample of the run to the stream, which must outlive the run. */
void virtual_fabric_stream(struct virtual_fabric *fabric, struct run_stream *stream);

/* Runs for the configured time; '*stop' ends the run early. 'progress' may be NULL. Returns 0, or
 * with error set -ENOMEM, -EINVAL if something requires one worker, or -EIO if ranks were lost. */
int virtual_fabric_run(struct virtual_fabric *fabric, const atomic_bool *stop,
	virtual_progress_fn progress, void *ctx, struct error *error);

/* Fills 'result', which must be zeroed; the caller frees it. May return -ENOMEM with error set. */
int virtual_fabric_result(
	const struct virtual_fabric *fabric, struct run_result *result, struct error *error);

/* Call after the run. Returns 0, or -EINVAL with error set if a schedule did not end. */
int virtual_fabric_check_complete(const struct virtual_fabric *fabric, struct error *error);

/* Checks invariants: packets are conserved, credits agree at both ends of every link, buffers never
 * overflow, and each switch's own invariants hold. Returns NULL, or a description of the violation.
 * Call between runs; for tests. */
const char *virtual_fabric_check(const struct virtual_fabric *fabric);
