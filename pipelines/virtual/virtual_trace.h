/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A function called for every frame of a virtual fabric as the frame passes a port. The virtual
 * clock has no frames, only descriptors; the record contains what a frame would carry. Without a
 * function this costs one branch per event.
 *
 * Calls are made in event order: by time, and at equal times by device, port and kind. With several
 * threads (virtual_partitions.h), each thread calls the function for the devices of its partition,
 * in their order. */

#include <stdbool.h>

#include "base/weft_time.h"
#include "capture/capture_state.h"
#include "topo/topology.h"
#include "wire/control.h"
#include "wire/latency.h"
#include "wire/packet.h"

struct sim_event;
struct virtual_fabric;

/* A frame at a port. A departing frame starts to leave at 'now'. An arriving frame is recorded when
 * its device can act on it: a credit frame when it arrives; a packet when its header has arrived
 * and has been routed, or with its tail where the device waits for the tail (store-and-forward, a
 * slower input, a host). A switch has only decided on it; a host has not processed it yet. */
struct virtual_trace_record {
	weft_time now;
	uint32_t order;     /* order of the current event; 0: outside events */
	unsigned partition; /* partition of the fabric, and thus of the calling thread */
	struct topology_port at;
	bool out;
	bool gone; /* neither in nor out: discarded after it was stored */
	const struct weft_packet
		*packet; /* with vc, in_port and injected_ns; NULL: a control frame */
	/* For a packet with FRAME_F_LATENCY, as its frame would carry it; else NULL. */
	const struct latency_extension *extension;
	uint32_t waited_ns; /* packet leaving its source: time since its message was generated */
	unsigned output;    /* packet arriving at a switch; SWITCH_PORT_NONE: discarded */
	/* Exactly one is set for a control frame. */
	const struct control_credit *credit;
	const struct control_arn *arn;
};

/* The record is valid only during the call, which must not change the fabric. */
typedef void virtual_trace_fn(void *ctx, const struct virtual_trace_record *record);

/* Sets the only trace function; NULL ends tracing. Call between runs. */
void virtual_fabric_trace(struct virtual_fabric *fabric, virtual_trace_fn *watch, void *ctx);

/* Fills in the state that explains the frame, as in captures on both clocks. Call only from the
 * trace function. */
void virtual_trace_state(const struct virtual_fabric *fabric,
	const struct virtual_trace_record *record, struct capture_state *state);

/* For virtual_*.c, only while a trace function is set. Traces an event that is about to be
 * executed; virtual_trace_admitted() traces packets at switches. */
void virtual_trace_in(struct virtual_fabric *fabric, const struct sim_event *event);
/* Traces a packet that switch 'at' has admitted or discarded, but not processed further. 'header':
 * its mutable bytes on arrival. */
void virtual_trace_admitted(struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet,
	uint32_t header, unsigned output, weft_time now);
/* Traces a stored packet that switch 'at' discards. */
void virtual_trace_discarded(
	struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet, weft_time now);
/* Traces a packet in transit for which host 'at' has no space. */
void virtual_trace_refused(struct virtual_fabric *fabric, uint32_t at,
	const struct weft_packet *packet, weft_time now);
/* Traces a packet that the port of the event 'order' starts to send. */
void virtual_trace_out(struct virtual_fabric *fabric, uint32_t order,
	const struct weft_packet *packet, weft_time now);
/* Trace a credit frame or an ARN sent to the port of the event 'order'. */
void virtual_trace_credit(struct virtual_fabric *fabric, uint32_t order,
	const struct control_credit *credit, weft_time now);
void virtual_trace_arn(struct virtual_fabric *fabric, uint32_t order, const struct control_arn *arn,
	weft_time now);
