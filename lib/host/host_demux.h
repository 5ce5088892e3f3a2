/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The layer above an interface: passes synthetic messages to the measuring sink, messages between
 * endpoints to the endpoints, and others to the edge; a host may lack endpoints or an edge. The
 * first byte identifies the kind of message (synthetic.h, endpoint.h). The sink checks the order of
 * all messages. */

#include "edge.h"
#include "measure_sink.h"

struct host_demux {
	struct measure_sink *sink;
	struct edge *edge; /* NULL: none */
	uint8_t *to; /* [hosts] enum host_demux_to: where the current message from each host goes */
	uint16_t hosts;
	/* Receives the packets that the edge completes. */
	void *ctx;
	void (*packet)(void *ctx, const struct edge_packet *packet);
	/* Called for each synthetic message that arrived completely, with the due arrival of its
	 * last frame; may be NULL. */
	void *message_ctx;
	void (*message)(void *message_ctx, uint16_t source, weft_time due_ps);
	/* Receives frames between endpoints; NULL: none. */
	void *endpoint_ctx;
	void (*endpoint)(void *endpoint_ctx, const struct nic_delivery *delivery);
	/* Frames of programs' messages for which there was no edge or endpoint. */
	uint64_t unclaimed;
};

enum host_demux_to { HOST_DEMUX_SINK, HOST_DEMUX_EDGE, HOST_DEMUX_ENDPOINT };

/* The caller keeps 'sink' and 'edge'. Returns 0 or -ENOMEM. */
int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts);
void host_demux_fini(struct host_demux *demux);

/* For nic_host.deliver; 'ctx' is the demux. */
void host_demux_deliver(void *ctx, const struct nic_delivery *delivery);
