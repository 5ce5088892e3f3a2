/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reasons in capture records (struct capture_state.reason): why a frame was refused, discarded,
 * delayed or sent on a different path. All devices use the same codes, because the ports of a
 * fabric share a capture file. The texts are the names of the counters that are incremented. */

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture_state.h"
#include "switch/switch.h"
#include "switch/switch_counters.h"
#include "wire/frame.h"

#define CAPTURE_REASON_FAULT  1  /* + enum frame_fault */
#define CAPTURE_REASON_SWITCH 32 /* + enum switch_counter */

/* Reasons without a counter. */
#define CAPTURE_REASONS(X)                                                                         \
	X(CONTROL_BAD, "control_bad")               /* link-local frame with an invalid payload */ \
	X(SOURCE_SPOOFED, "discard_source_spoofed") /* source is not the port's host */            \
	X(ITB_FULL, "discard_itb_full")             /* in-transit buffer full */                   \
	X(DEFLECTED, "deflected: link down")        /* left its primary port */                    \
	X(ADAPTED, "adapted: other path")           /* likewise, because of adaptive routing */

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

/* Returns the text of a reason, or NULL if it is unknown (a capture_reason_fn). */
const char *capture_reason_text(uint8_t reason);
/* Returns true if the frame was refused or discarded (a capture_drops_fn). */
bool capture_reason_drops(uint8_t reason);

/* Records the switch's decision on a data frame that has arrived, for captures on either clock: the
 * credits left to the sender in the frame's VC, and the blocks ahead of the frame in the queue that
 * it will join.
 *
 * Call when the switch has admitted 'packet' for 'output' (switch_admit()) but has not stored it,
 * or, with SWITCH_PORT_NONE, has discarded it. Fields whose values are unknown stay unchanged. */
void capture_decision(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned output, struct capture_state *state);
