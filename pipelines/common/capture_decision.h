/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The state that a capture adds to a data frame that has come into a switch, at either clock: the
 * decision on it. Credits: what its sender has left in its VC after it. Depth: the blocks before it
 * in the queue that it is to join.
 */

#include "capture_state.h"
#include "switch.h"

/* The switch has admitted 'packet' for 'output' but not stored it yet (switch_admit()), or, with
 * SWITCH_PORT_NONE, discarded it. Sets the fields that can be known. */
void capture_decision(const struct weft_switch *sw, const struct weft_packet *packet,
	unsigned output, struct capture_state *state);
