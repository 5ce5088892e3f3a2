/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The reason of a capture record (struct capture_state.reason): why a frame was refused, discarded,
 * delayed or sent on another path. One numbering for all devices, because the ports of a fabric
 * share a capture file; the words are the names of the counters that increase. */

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture_state.h"
#include "switch/switch.h"
#include "switch/switch_counters.h"
#include "wire/frame.h"

#define CAPTURE_REASON_FAULT  1  /* + enum frame_fault */
#define CAPTURE_REASON_SWITCH 32 /* + enum switch_counter */

/* Details beyond the counters. */
#define CAPTURE_REASONS(X)                                                                    \
	X(CONTROL_BAD, "control_bad")               /* link-local, with an invalid payload */ \
	X(SOURCE_SPOOFED, "discard_source_spoofed") /* its source is not the port's host */   \
	X(ITB_FULL, "discard_itb_full")             /* no room in the in-transit buffer */    \
	X(DEFLECTED, "deflected: link down")        /* left its primary port */               \
	X(ADAPTED, "adapted: other path")           /* likewise, by adaptive routing */

enum capture_reason {
	CAPTURE_REASON_NONE = 0,
	CAPTURE_REASON_OTHER = 96,
#define X(id, text) CAPTURE_REASON_##id,
	CAPTURE_REASONS(X)
#undef X
		CAPTURE_REASON_END
};

static inline uint8_t capture_reason_fault(enum frame_fault fault)
{
	return fault == FRAME_FAULT_OK ? CAPTURE_REASON_NONE
				       : (uint8_t)(CAPTURE_REASON_FAULT + fault);
}

static inline uint8_t capture_reason_switch(enum switch_counter counter)
{
	return (uint8_t)(CAPTURE_REASON_SWITCH + counter);
}

/* A capture_reason_fn. */
const char *capture_reason_text(uint8_t reason);
/* A capture_drops_fn: true if the frame was refused or discarded. */
bool capture_reason_drops(uint8_t reason);

/* The state that a capture adds to a data frame that arrived at a switch, on either clock: the
 * switch's decision on the frame. Credits: what the frame leaves to its sender in its VC. Depth:
 * the blocks ahead of the frame in the queue that it will join.
 *
 * The switch has admitted 'packet' for 'output' but not stored it yet (switch_admit()), or, with
 * SWITCH_PORT_NONE, discarded it. Sets the fields that are known. */
void capture_decision(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned output, struct capture_state *state);
