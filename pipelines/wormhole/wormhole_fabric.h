/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Runs a run file with 'switching: wormhole' (docs/explanation/wormhole.md): simulates
 * wormhole_net.h with the same routes, selectors, traffic sources and measurements as other runs.
 * Each message is one packet. The same file and seed give bit-identical results. */

#include <stdatomic.h>

#include "base/weft_error.h"
#include "experiment/result/run_result.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "topo/topology.h"

struct wormhole_fabric;
struct wormhole_net;

/* Reports the progress of a run: 'done' of 'whole', in messages or in ps of virtual time. */
typedef void (*wormhole_progress_fn)(
	void *ctx, uint64_t done, uint64_t whole, uint64_t channels_passed);

/* Topology and configuration must outlive the fabric. Returns NULL with error set on failure. */
struct wormhole_fabric *wormhole_fabric_create(
	const struct topology *topology, const struct run_config *run, struct error *error);
void wormhole_fabric_destroy(struct wormhole_fabric *fabric);

/* Also sends each sample of the run to the stream, which must outlive the run. */
void wormhole_fabric_stream(struct wormhole_fabric *fabric, struct run_stream *stream);

/* Runs for the configured time or number of messages; '*stop' or a deadlock ends the run early.
 * 'progress' may be NULL. Returns 0, or -ENOMEM with error set. */
int wormhole_fabric_run(struct wormhole_fabric *fabric, const atomic_bool *stop,
	wormhole_progress_fn progress, void *ctx, struct error *error);

/* Fills 'result', which must be zeroed; the caller frees it. May return -ENOMEM with error set. */
int wormhole_fabric_result(
	const struct wormhole_fabric *fabric, struct run_result *result, struct error *error);

/* For tests: the network, and the number of a host's own messages waiting to be sent. */
const struct wormhole_net *wormhole_fabric_net(const struct wormhole_fabric *fabric);
uint64_t wormhole_fabric_waiting(const struct wormhole_fabric *fabric, uint32_t host);
