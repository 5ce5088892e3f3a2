/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The layer above an interface: passes synthetic messages to the measuring sink, all others to the
 * edge if the host has one. The first byte of a message tells them apart (synthetic.h). The sink
 * checks the order of both. */

#include "edge.h"
#include "measure_sink.h"

struct host_demux {
	struct measure_sink *sink;
	struct edge *edge; /* NULL: none */
	bool *to_edge;     /* [hosts] true if the current message from there goes to the edge */
	uint16_t hosts;
	/* Receives the packets that the edge completes. */
	void *ctx;
	void (*packet)(void *ctx, const struct edge_packet *packet);
	/* Called for each synthetic message that has arrived completely, with the due arrival of
	 * its last frame; may be NULL. */
	void *message_ctx;
	void (*message)(void *message_ctx, uint16_t source, weft_time due_ps);
	uint64_t unclaimed; /* frames of programs' messages without an edge */
};

/* 'sink' and 'edge' stay the caller's. 0 or -ENOMEM. */
int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts);
void host_demux_fini(struct host_demux *demux);

/* For nic_host.deliver; 'ctx' is the demux. */
void host_demux_deliver(void *ctx, const struct nic_delivery *delivery);
