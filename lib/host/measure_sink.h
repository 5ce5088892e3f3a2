/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A measuring host: takes synthetic messages, records their latency and checks the guarantees of
 * delivery: nothing lost, duplicated, out of order or altered. The three counters of 'checks' in a
 * result come from the sink, which counts independently of the interface.
 *
 * Network latency: from the injection of a frame's header to its arrival, one sample per frame.
 * Total latency: from the generation of a message to the arrival of the last of its frames, one
 * sample per message. Both are recorded for the arrival that the loop observed, and for the due
 * arrival (the fabric's latency alone). 'waited' has the time that frames then waited for earlier
 * ones (lateness.h). Frames for a TAP edge have their own network latency. Stamps from a source on
 * another machine are converted with the estimate of its clock at the frame's arrival
 * (clock_offset.h), and the maximum error bound is kept. While nothing is known of that clock, its
 * frames are counted but give no sample. Nothing that arrives before 'measure_from' is recorded.
 *
 * Messages are also counted per entry of the run's traffic (synthetic.h). */

#include "edge.h"
#include "nic/clock/clock_offset.h"
#include "nic/nic.h"
#include "stats/histogram.h"
#include "stats/lateness.h"

struct measure_source {
	uint64_t seen; /* which of the 64 frames before 'next' arrived; bit 0 is the latest */
	uint32_t next; /* expected frame */
	uint32_t message;
	uint32_t message_bytes;
	uint64_t generated_ns;
	weft_time arrived, arrived_due; /* latest arrival of 'message' so far */
	uint16_t flow;
	uint8_t entry;                    /* entry of 'message' */
	bool known, open;                 /* 'open': the prefix of 'message' was valid */
	const struct clock_offset *clock; /* NULL: it has this clock */
};

struct measure_sink_flow {
	uint64_t messages;
	weft_time last_ps;
};

/* Arrivals of one entry of the traffic since the last reset. */
struct measure_sink_entry {
	uint64_t frames, messages, bytes;
	struct histogram network_ns, total_ns; /* from measure_from on */
	/* [hosts] messages by source, and when the last one arrived. Owned by the caller; NULL: not
	 * wanted. */
	struct measure_sink_flow *flow;
};

/* Frames of sources with another clock. */
struct measure_clocks {
	uint64_t timed;     /* frames with a known latency */
	uint64_t bound_ns;  /* the largest possible error of a latency */
	uint64_t bounds_ns; /* the sum of all frames' bounds */
	uint64_t untimed;   /* frames without a latency: the source's clock was unknown */
};

struct measure_sink {
	uint16_t host, hosts;
	weft_time measure_from;
	struct measure_sink_entry *entry; /* [entries]; NULL: not told apart */
	unsigned entries;
	struct histogram network_ns, total_ns, network_due_ns, total_due_ns, edges_ns;
	struct order_wait waited;
	uint64_t frames, messages, bytes;
	uint64_t edge_frames, edge_bytes;           /* sent by programs */
	uint64_t measured_messages, measured_bytes; /* from measure_from on */
	/* Frames in network_ns that were late by at most a tenth of their network_due_ns. */
	uint64_t within_tenth;
	struct measure_clocks clocks;            /* from measure_from on */
	uint64_t lost, duplicated, out_of_order; /* frames; 0 if the guarantees of delivery hold */
	uint64_t altered;                        /* frames whose bytes were changed */
	struct measure_source source[];          /* [hosts] */
};

/* Returns NULL with errno ENOMEM if out of memory. */
struct measure_sink *measure_sink_create(uint16_t host, uint16_t hosts);
void measure_sink_destroy(struct measure_sink *sink);

/* From now on distinguishes 'entries' entries, and counts by source in flow[entry], [hosts], unless
 * that is NULL. The caller owns and clears these counters; sinks that one thread serves may share
 * them. Returns 0, or -ENOMEM: the sink is unchanged. */
int measure_sink_set_entries(
	struct measure_sink *sink, unsigned entries, struct measure_sink_flow *const *flow);

/* From now on the counters by source of the same entries are in 'flow'. */
void measure_sink_set_flows(struct measure_sink *sink, struct measure_sink_flow *const *flow);

/* The time stamps in frames of 'source' come from another clock, whose estimate the caller owns.
 * Call before the first frame. */
void measure_sink_set_clock(
	struct measure_sink *sink, uint16_t source, const struct clock_offset *clock);

/* Checks order and number of every delivered frame, synthetic or not. */
void measure_sink_watch(struct measure_sink *sink, const struct nic_delivery *delivery);
/* Records content and latency of the frames of synthetic messages. */
void measure_sink_take(struct measure_sink *sink, const struct nic_delivery *delivery);

/* Clears the measurements, but neither the expected numbers nor the counters by source. */
void measure_sink_reset(struct measure_sink *sink, weft_time measure_from);
/* Clears the latencies and other values counted from 'measure_from' on, but not the entries'
 * counters. */
void measure_sink_restart(struct measure_sink *sink, weft_time measure_from);

/* The layer above an interface: passes synthetic messages to the measuring sink, messages between
 * endpoints to the endpoints, and others to the edge; a host may lack endpoints or an edge. The
 * first byte identifies the kind of message (synthetic.h, endpoint.h). The sink checks the order of
 * all messages. */

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
