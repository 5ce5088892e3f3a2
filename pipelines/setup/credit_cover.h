/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credits and windows compared with round trips: links whose buffers, and pairs of hosts whose
 * window (nic.window), hold less than the link carries until credits or acknowledgements return.
 * Each is a line of text, "s0:1: 128 KiB cover 10.5 us of 100 Gbps; the round trip is 20.3 us: at
 * most 52 %". The bounds are for frames of nic.mtu, or of the largest message if that is
 * shorter. */

#include "experiment/run/run_config.h"
#include "topo/topology.h"

#define CREDIT_COVER_TEXT 200

typedef void credit_cover_fn(void *ctx, const char *text);

/* Calls 'tell' for each limit, with one line for all similar links. There are none for wormhole
 * switches. */
void credit_cover_report(const struct run_config *run, const struct topology *topology,
	credit_cover_fn *tell, void *ctx);
/* The same for links only, with the rates and delays in 'now', [link]. Skips links with rate 0. */
void credit_cover_links(const struct run_config *run, const struct topology *topology,
	const struct topology_link *now, credit_cover_fn *tell, void *ctx);
/* A credit_cover_fn: "# TEXT" or, with a prefix as 'ctx', "PREFIX: warning: TEXT" to standard
 * error. */
void credit_cover_warn(void *prefix, const char *text);

/* Upper bound on the share of its rate, in ppm, that the link from a port carries in one VC; for
 * tests. */
uint32_t credit_cover_ppm(
	const struct run_config *run, const struct topology *topology, struct topology_port from);
