/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Measures at a receiving host: takes synthetic messages, records their latency and checks the
 * delivery guarantees: no frame is lost, duplicated, out of order or altered. The delivery counters
 * of 'checks' in a result come from the sink, which counts independently of the interface.
 *
 * Network latency is the time from the injection of a frame's header to the frame's arrival, one
 * sample per frame. Total latency is the time from the generation of a message to the arrival of
 * its last frame, one sample per message. Both are recorded for the arrival that the loop observed
 * and for the due arrival (the fabric's latency alone). 'waited' records how long frames then
 * waited for earlier ones (lateness.h). Frames for a TAP edge have a separate network latency. Time
 * stamps from another machine are converted with the estimate of its clock at the frame's arrival
 * (clock_offset.h), and the maximum error bound is recorded. Until there is an estimate, frames are
 * counted without a sample. Arrivals before 'measure_from' give no samples.
 *
 * Messages are also counted per traffic entry of the run (synthetic.h). */

#include "edge.h"
#include "nic/clock/clock_offset.h"
#include "nic/nic.h"
#include "stats/histogram.h"
#include "stats/lateness.h"

struct measure_source {
	uint64_t seen; /* arrived frames among the 64 before 'next'; bit 0 is the latest */
	uint32_t next; /* next expected frame */
	uint32_t message;
	uint32_t message_bytes;
	uint64_t generated_ns;
	weft_time arrived, arrived_due; /* latest arrival among the frames of 'message' */
	uint16_t flow;
	uint8_t entry;                    /* traffic entry of 'message' */
	bool known, open;                 /* open: the prefix of 'message' was valid */
	const struct clock_offset *clock; /* clock of the source; NULL: same clock as this host */
};

struct measure_sink_flow {
	uint64_t messages;
	weft_time last_ps;
};

/* Arrivals of one traffic entry since the last reset. */
struct measure_sink_entry {
	uint64_t frames, messages, bytes;
	struct histogram network_ns, total_ns; /* from measure_from on */
	/* [hosts] number of messages from each source, and arrival of the last one. Owned by the
	 * caller; may be NULL. */
	struct measure_sink_flow *flow;
};

/* Frames from sources with a different clock. */
struct measure_clocks {
	uint64_t timed;     /* frames with a known latency */
	uint64_t bound_ns;  /* maximum error of a latency */
	uint64_t bounds_ns; /* sum of the error bounds */
	uint64_t untimed;   /* frames without a latency, because the source's clock was unknown */
};

struct measure_sink {
	uint16_t host, hosts;
	weft_time measure_from;
	struct measure_sink_entry *entry; /* [entries]; NULL: no separate counts */
	unsigned entries;
	struct histogram network_ns, total_ns, network_due_ns, total_due_ns, edges_ns;
	struct order_wait waited;
	uint64_t frames, messages, bytes;
	uint64_t edge_frames, edge_bytes;           /* from programs */
	uint64_t measured_messages, measured_bytes; /* from measure_from on */
	/* Frames in network_ns whose lateness was at most a tenth of their due network latency. */
	uint64_t within_tenth;
	struct measure_clocks clocks;            /* from measure_from on */
	uint64_t lost, duplicated, out_of_order; /* frames; all 0 if the delivery guarantees hold */
	uint64_t altered;                        /* frames with changed bytes */
	struct measure_source source[];          /* [hosts] */
};

/* Returns NULL with errno ENOMEM if out of memory. */
struct measure_sink *measure_sink_create(uint16_t host, uint16_t hosts);
void measure_sink_destroy(struct measure_sink *sink);

/* Starts separate counts for 'entries' traffic entries. flow[entry] is [hosts] counters per source,
 * or NULL. These counters remain the caller's, which also clears them; sinks served by the same
 * thread may share them. Returns 0, or -ENOMEM with the sink unchanged. */
int measure_sink_set_entries(
	struct measure_sink *sink, unsigned entries, struct measure_sink_flow *const *flow);

/* Replaces the per-source counters of the same entries. */
void measure_sink_set_flows(struct measure_sink *sink, struct measure_sink_flow *const *flow);

/* Sets the clock estimate for time stamps from 'source'; it remains the caller's. Call before the
 * first frame. */
void measure_sink_set_clock(
	struct measure_sink *sink, uint16_t source, const struct clock_offset *clock);

/* Checks order and sequence number of every delivered frame, synthetic or not. */
void measure_sink_watch(struct measure_sink *sink, const struct nic_delivery *delivery);
/* Checks the content of a synthetic message's frame and records its latency. */
void measure_sink_take(struct measure_sink *sink, const struct nic_delivery *delivery);

/* Clears the measurements, but not the expected sequence numbers or the per-source counters. */
void measure_sink_reset(struct measure_sink *sink, weft_time measure_from);
/* Clears latencies and other values counted from 'measure_from' on, but not the entries' counters.
 */
void measure_sink_restart(struct measure_sink *sink, weft_time measure_from);

/* Dispatches deliveries of an interface: synthetic messages to the measuring sink, messages between
 * endpoints to the endpoints, and all others to the edge. A host may lack endpoints or an edge. The
 * first byte identifies the kind of message (synthetic.h, endpoint.h). The sink checks the order of
 * all messages. */

struct host_demux {
	struct measure_sink *sink;
	struct edge *edge; /* may be NULL */
	uint8_t *to; /* [hosts] enum host_demux_to: handler of the current message from each host */
	uint16_t hosts;
	/* Receives the packets that the edge completes. */
	void *ctx;
	void (*packet)(void *ctx, const struct edge_packet *packet);
	/* Called for each synthetic message when it is complete, with the due arrival of its last
	 * frame; may be NULL. */
	void *message_ctx;
	void (*message)(void *message_ctx, uint16_t source, weft_time due_ps);
	/* Receives frames between endpoints; NULL: none. */
	void *endpoint_ctx;
	void (*endpoint)(void *endpoint_ctx, const struct nic_delivery *delivery);
	/* Program frames for which this host has no edge or endpoints. */
	uint64_t unclaimed;
};

enum host_demux_to { HOST_DEMUX_SINK, HOST_DEMUX_EDGE, HOST_DEMUX_ENDPOINT };

/* 'sink' and, if it is set later, 'edge' remain the caller's. Returns 0 or -ENOMEM. */
int host_demux_init(struct host_demux *demux, struct measure_sink *sink, uint16_t hosts);
void host_demux_fini(struct host_demux *demux);

/* Callback for nic_host.deliver; 'ctx' is the demux. */
void host_demux_deliver(void *ctx, const struct nic_delivery *delivery);
