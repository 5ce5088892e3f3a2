/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting times and contending flows (papers 002 and 003): a switch adds to each packet with
 * FRAME_F_LATENCY the time from its admission to its departure. The first switch where a packet
 * waits longer than the threshold also records the contending flows when it leaves, and sets its
 * predictive flag; later switches record none (paper 003, table 1). With 'last' each such switch
 * replaces the record: the last switch is closest to the origin of the congestion (Weft's choice).
 *
 * The same code serves both clocks, which differ in where they keep the result: with 'in_frame' the
 * waiting time is in the packet's extension, whose checksum is updated; otherwise it is in
 * packet->latency_ns, which the source set to 0. Flows are always in the extension.
 *
 * Drivers call switch_set_contention(), and contention_leave() for the outputs in 'driven', because
 * only they know when a transmission starts there; the switch makes the other calls. A switch
 * without it has no cost per packet: departures share the branch of congestion control. */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/weft_time.h"
#include "wire/latency.h"
#include "wire/packet.h"

struct weft_switch;

enum contention_scope {
	CONTENTION_OUTPUT, /* packets stored for the same output */
	CONTENTION_BUFFER, /* packets in the same VC of the same input */
};

/* The extension of a packet that has FRAME_F_LATENCY; NULL if it has none after all. */
typedef struct latency_extension *(*contention_extension_fn)(
	void *ctx, const struct weft_packet *packet);

struct contention_config {
	weft_time threshold_ps; /* WEFT_TIME_NEVER: no flows, only waiting times */
	uint8_t flows;          /* maximum to record, 0..CN_FLOWS_MAX */
	enum contention_scope scope;
	bool last; /* each such switch records, so the flows of the last one arrive */
	bool in_frame;
	contention_extension_fn extension;
	void *ctx;
};

struct contention {
	struct contention_config config;
	port_set driven;    /* set: outputs whose driver calls contention_leave() */
	uint64_t waited_ps; /* sum over all data packets that left; data_out is their number */
	uint64_t recorded;  /* packets whose flows were recorded here (contention_recorded) */
	uint64_t bad;       /* extensions in frames with a wrong checksum: left as they are */
};

/* Twice the time of a frame of 'frame_bytes' at 'rate_bps', the default of the threshold. */
weft_time contention_threshold(uint32_t frame_bytes, uint64_t rate_bps);

/* From now on the switch's departures are timed; 'contention' is the caller's. Returns NULL if
 * there is no longer. Call it before the switch stores anything. */
void switch_set_contention(struct weft_switch *sw, struct contention *contention);

/* A data packet that could leave from packet->arrived_ps on starts to leave through 'output' at
 * 'now', and was taken from its queue. The switch must have contention. */
void contention_leave(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now);
