/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The state that the poll driver adds to captured frames of a switch (docs/wire-format.md). Only
 * called for ports that are being captured.
 *
 * Credits: what the sender of the frame has left in its VC on this link after it. Depth: for a
 * frame that comes in, the blocks before it in the queue that it joins; for one that goes out, the
 * blocks left behind it in its queue. */

#include "capture.h"
#include "poll_switch.h"

/* A frame between poll_switch_capture_begin() and _end(). */
struct poll_switch_captured {
	struct capture_slot *slot;        /* NULL: dropped by the capture */
	const struct weft_packet *packet; /* the descriptor of a good data frame; NULL: another */
	struct capture_state state;
};

/* Copies a frame that has arrived, before the switch gets it. */
void poll_switch_capture_begin(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now, struct poll_switch_captured *frame);
/* Adds what the switch has done with it. 'passed': the output by which it passed the queues;
 * SWITCH_PORT_NONE: it was stored or discarded. */
void poll_switch_capture_end(const struct poll_switch *ps, unsigned at, struct capture *capture,
	unsigned passed, struct poll_switch_captured *frame);

/* 'mbufs' are about to be handed to the transmitter. 'queued': they come from the queues, with
 * their descriptors; else they have passed the queues or were made by the driver. */
void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now);
