/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The state of a frame in a device when it was captured, and its text form in captures
 * (docs/reference/wire-format.md). The same on both clocks. Independent of DPDK. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_UNKNOWN UINT32_MAX

struct capture_state {
	uint32_t credits_blocks;   /* remaining in 'vc' towards the peer; CAPTURE_UNKNOWN */
	uint32_t voq_depth_blocks; /* depth of the queue that holds the frame; CAPTURE_UNKNOWN */
	uint32_t waited_ns; /* time at its source since its message was generated; 0: unknown */
	uint8_t vc;
	uint8_t reason; /* why it was deflected, delayed or dropped; 0: none */
};

/* Returns the text of a reason, from the X-macro list of the device that owns the port, or NULL. */
typedef const char *capture_reason_fn(uint8_t reason);
/* Returns whether a frame with this reason is not forwarded. */
typedef bool capture_drops_fn(uint8_t reason);

/* Writes "vc 1, credits 113, voq 4, waited 250, REASON", without unknown parts. 'reason' may be
 * NULL. The text is cut to 'size'; 128 bytes suffice. */
void capture_state_format(
	const struct capture_state *state, capture_reason_fn *reason, char *text, size_t size);
