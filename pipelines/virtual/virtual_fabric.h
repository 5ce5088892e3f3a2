/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A whole fabric on the virtual clock (docs/developer/architecture.md): the switches of lib/switch
 * and the interfaces of lib/nic/datagram/datagram.h, joined by links with exact rates and delays,
 * driven by one event queue, or by one for each of several threads. No EAL, no clock: the same file
 * and seed give the same result, to the last bit, on every machine and for every number of threads.
 *
 * Timing. A frame of L bytes keeps a link busy for (L + FRAME_WIRE_OVERHEAD) / R. Its header is at
 * the far end after the link's delay; a switch may forward it after its routing delay, at once with
 * cut-through, or when the tail has arrived with store-and-forward (and where the output is faster
 * than the input). Its space is free when its tail has left. The credit frame for it, sent under
 * the same rule as on the real clock, arrives after the delay of the link. Credit frames take no
 * time on the link. */

#include <stdatomic.h>

#include "base/weft_error.h"
#include "experiment/result/run_result.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"
#include "virtual/parallel/ranks.h"

struct virtual_fabric;

/* Called from time to time with the progress of a run: virtual time 'done' out of 'whole'. */
typedef void (*virtual_progress_fn)(
	void *ctx, weft_time done, weft_time whole, uint64_t packet_hops);

/* Returns NULL with error set on failure. Topology and configuration must outlive the fabric. */
struct virtual_fabric *virtual_fabric_create(
	const struct topology *topology, const struct run_config *run, struct error *error);
/* The time at which the run ended, the same in all ranks. */
weft_time virtual_fabric_now(const struct virtual_fabric *fabric);
void virtual_fabric_destroy(struct virtual_fabric *fabric);

/* Call once, before the run. Each process (ranks.h; NULL: one) uses 'workers' threads, and the
 * result is the same as with one. Fails with -EINVAL: the run needs one thread
 * (docs/how-to/use-many-cores.md), or there are more workers than switches; -ENOMEM; the fabric
 * then still has one thread. All ranks call all functions. Rank 0 has the result, and if one rank
 * fails, all fail. */
int virtual_fabric_set_ranks(
	struct virtual_fabric *fabric, struct ranks *ranks, unsigned workers, struct error *error);

/* Each sample of the run also goes to the stream, which outlives it. */
void virtual_fabric_stream(struct virtual_fabric *fabric, struct run_stream *stream);

/* Runs for the configured time; '*stop' ends it early. 'progress' may be NULL. Returns 0, -ENOMEM,
 * -EAGAIN without threads, -EINVAL if something happened that needs one worker, or -EIO: other
 * ranks are lost. */
int virtual_fabric_run(struct virtual_fabric *fabric, const atomic_bool *stop,
	virtual_progress_fn progress, void *ctx, struct error *error);

/* Fills 'result', which is zeroed; the caller frees it. May return -ENOMEM. */
int virtual_fabric_result(
	const struct virtual_fabric *fabric, struct run_result *result, struct error *error);

/* After the run: returns 0, or -EINVAL with the reason if a schedule has not ended. */
int virtual_fabric_check_complete(const struct virtual_fabric *fabric, struct error *error);

/* Checks invariants: packets are conserved, credits agree at both ends of every link, buffers never
 * overflow, and each switch's own invariants hold. Returns NULL, or a description of the violation.
 * Call between runs, for tests. */
const char *virtual_fabric_check(const struct virtual_fabric *fabric);
