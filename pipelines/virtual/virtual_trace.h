/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Looking at every frame of a virtual fabric as it passes a port. There are no frames on the
 * virtual clock, only descriptors; what is shown is what a frame would carry. Nobody looks by
 * default, and then it costs a branch an event.
 *
 * Order: that of the events, so by time, and at the same time by device, port and kind.
 */

#include <stdbool.h>

#include "capture_state.h"
#include "control.h"
#include "packet.h"
#include "topology.h"
#include "weft_time.h"

struct virtual_fabric;

/*
 * A frame at a port. One that leaves begins to do so at 'now'. One that comes in has come so far
 * that its device can do something with it: a credit frame when it is there; a packet when its
 * header is there and has been routed, or, where the tail is waited for (store-and-forward, a
 * slower input, a host), with its tail. A switch has decided on it and done nothing else, a host
 * has done nothing with it.
 */
struct virtual_trace_record {
	weft_time now;
	struct topology_port at;
	bool out;
	const struct weft_packet
		*packet; /* with vc, in_port and injected_ns; NULL: a control frame */
	unsigned output; /* of a packet that comes into a switch; SWITCH_PORT_NONE: discarded */
	/* One of them, of a control frame. */
	const struct control_credit *credit;
	const struct control_arn *note;
};

/* What it is shown is valid for the call, and the fabric is not to be touched. */
typedef void virtual_trace_fn(void *ctx, const struct virtual_trace_record *record);

/* One looks at a time; NULL ends it. Between runs. */
void virtual_fabric_trace(struct virtual_fabric *fabric, virtual_trace_fn *watch, void *ctx);

/* During such a call: the state that explains the frame, as captures tell it at both clocks. */
void virtual_trace_state(const struct virtual_fabric *fabric,
	const struct virtual_trace_record *record, struct capture_state *state);
