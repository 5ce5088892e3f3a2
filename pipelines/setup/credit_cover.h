/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Compares credits and windows with round trips. Reports links whose buffers hold less than the
 * link carries until credits return, and pairs of hosts whose window (nic.window) is less than the
 * link carries until acknowledgements return. A report is one line of text: "s0:1: 128 KiB cover
 * 10.5 us at 100 Gbps; the round trip is 20.3 us: at most 52 %". The bounds apply to frames of
 * nic.mtu, or of the largest message if that is shorter. */

#include "experiment/run/run_config.h"
#include "topo/topology.h"

#define CREDIT_COVER_TEXT 200

typedef void credit_cover_fn(void *ctx, const char *text);

/* Calls 'tell' for each limit, once for all similar links. For wormhole switching, reports only
 * links that differ from the defaults. */
void credit_cover_report(const struct run_config *run, const struct topology *topology,
	credit_cover_fn *tell, void *ctx);
/* Like credit_cover_report(), for links only, at the rates (0: skip) and delays in 'now' [link]. */
void credit_cover_links(const struct run_config *run, const struct topology *topology,
	const struct topology_link *now, credit_cover_fn *tell, void *ctx);
/* A credit_cover_fn: prints "# TEXT" or, with a prefix, "PREFIX: warning: TEXT" to stderr. */
void credit_cover_warn(void *prefix, const char *text);

/* Returns an upper bound on the utilisation, in ppm, of a port's link by one VC; for tests. */
uint32_t credit_cover_ppm(
	const struct run_config *run, const struct topology *topology, struct topology_port from);
