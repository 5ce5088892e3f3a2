/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Waiting times and contending flows (papers 002 and 003). A switch adds the time from admission to
 * departure to each packet with FRAME_F_LATENCY. The first switch where a packet waits longer than
 * the threshold also records the contending flows at departure and sets the packet's predictive
 * flag. Later switches record no flows (paper 003, table 1). With 'last', each such switch replaces
 * the record, because the last one is closest to the origin of the congestion (Weft's choice).
 *
 * The same code serves both clocks, which store the result in different places. With 'in_frame' the
 * waiting time is in the packet's extension, whose checksum is updated. Otherwise it is in
 * packet->latency_ns, which the source set to 0. Flows are always in the extension.
 *
 * Drivers call switch_set_contention(), and contention_leave() for the outputs in 'driven', where
 * the driver starts transmissions. The switch makes the remaining calls. A switch without
 * contention has no cost per packet: departures share the branch of congestion control. */

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

/* Returns the extension of a packet with FRAME_F_LATENCY, or NULL if it has none after all. */
typedef struct latency_extension *(*contention_extension_fn)(
	void *ctx, const struct weft_packet *packet);

struct contention_config {
	weft_time threshold_ps; /* WEFT_TIME_NEVER: record waiting times but no flows */
	uint8_t flows;          /* maximum number of recorded flows, 0..CN_FLOWS_MAX */
	enum contention_scope scope;
	bool last; /* each such switch replaces the record, so the last one's flows arrive */
	bool in_frame;
	contention_extension_fn extension;
	void *ctx;
};

struct contention {
	struct contention_config config;
	port_set driven;    /* outputs whose driver calls contention_leave() */
	uint64_t waited_ps; /* sum over the data packets counted by data_out */
	uint64_t recorded; /* packets whose flows were recorded here; counter contention_recorded */
	uint64_t bad;      /* extensions with a wrong checksum, which are left unchanged */
};

/* Returns the default threshold: twice the time of a frame of 'frame_bytes' at 'rate_bps'. */
weft_time contention_threshold(uint32_t frame_bytes, uint64_t rate_bps);

/* Starts timing the switch's departures. 'contention' is borrowed. Call before packets are stored.
 */
void switch_set_contention(struct weft_switch *sw, struct contention *contention);

/* Call when a data packet, taken from its queue, starts to be sent through 'output' at 'now'. It
 * has been waiting since packet->arrived_ps. The switch must have contention. */
void contention_leave(
	struct weft_switch *sw, struct weft_packet *packet, unsigned output, weft_time now);
