/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A function that is called for every frame of a virtual fabric as it passes a port. There are no
 * frames on the virtual clock, only descriptors; the record has what a frame would carry. Without a
 * function this costs a branch per event.
 *
 * Calls are made in the order of the events: by time, and at equal times by device, port and kind.
 * On several threads (virtual_partitions.h) each calls the function, for the devices of its
 * partition and in their order. */

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
 * its device can act on it: a credit frame when it is there; a packet when its header is there and
 * was routed, or, where the tail is waited for (store-and-forward, a slower input, a host), with
 * its tail. A switch has decided on it but done nothing else; a host has done nothing with it
 * yet. */
struct virtual_trace_record {
	weft_time now;
	uint32_t order;     /* order of the event in which this happens; 0: outside of events */
	unsigned partition; /* partition of the fabric, and thus of the calling thread */
	struct topology_port at;
	bool out;
	bool gone; /* neither: discarded after it was stored */
	const struct weft_packet
		*packet; /* with vc, in_port and injected_ns; NULL: a control frame */
	/* For a packet with FRAME_F_LATENCY, as its frame would carry it; else NULL. */
	const struct latency_extension *extension;
	uint32_t
		waited_ns; /* packet that leaves its source: time since its message was generated */
	unsigned output;   /* packet that arrives at a switch; SWITCH_PORT_NONE: discarded */
	/* One of these is set for a control frame. */
	const struct control_credit *credit;
	const struct control_arn *arn;
};

/* The record is valid for the call, in which the fabric must not be changed. */
typedef void virtual_trace_fn(void *ctx, const struct virtual_trace_record *record);

/* Sets the function, of which there is only one; NULL ends tracing. Between runs. */
void virtual_fabric_trace(struct virtual_fabric *fabric, virtual_trace_fn *watch, void *ctx);

/* During such a call: the state that explains the frame, as in captures on both clocks. */
void virtual_trace_state(const struct virtual_fabric *fabric,
	const struct virtual_trace_record *record, struct capture_state *state);

/* For virtual_*.c, and only while a trace function is set. An event is about to happen; packets at
 * switches are left to virtual_trace_admitted(). */
void virtual_trace_in(struct virtual_fabric *fabric, const struct sim_event *event);
/* Switch 'at' has admitted or discarded a packet and done nothing else with it. 'header': its
 * mutable bytes on arrival. */
void virtual_trace_admitted(struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet,
	uint32_t header, unsigned output, weft_time now);
/* Switch 'at' discards a packet that it had stored. */
void virtual_trace_discarded(
	struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet, weft_time now);
/* Host 'at' has no room for an arriving packet in transit. */
void virtual_trace_refused(struct virtual_fabric *fabric, uint32_t at,
	const struct weft_packet *packet, weft_time now);
/* The port of the event 'order' starts to send the packet. */
void virtual_trace_out(struct virtual_fabric *fabric, uint32_t order,
	const struct weft_packet *packet, weft_time now);
/* A credit frame or an ARN leaves for the port of the event 'order'. */
void virtual_trace_credit(struct virtual_fabric *fabric, uint32_t order,
	const struct control_credit *credit, weft_time now);
void virtual_trace_arn(struct virtual_fabric *fabric, uint32_t order, const struct control_arn *arn,
	weft_time now);
