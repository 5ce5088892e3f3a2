/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the poll driver tells a capture about the frames of a switch (files.md: the state that
 * explains each one). Only called for ports that are being captured.
 *
 * Credits are those that the sender of the frame has left in its VC, on this link, after it. Depth
 * is, for a frame that comes in, what waits before it in the queue that it is to join; for one that
 * goes out, what is left behind it in the queue that it was in.
 */

#include "poll_switch.h"

/* 'mbuf' has arrived and nothing has been done with it yet. */
void poll_switch_capture_in(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf *mbuf, weft_time now);

/* 'mbufs' are about to be handed to the transmitter. 'queued': they come from the queues, with
 * their descriptors; else they went past them, or were made here. */
void poll_switch_capture_out(const struct poll_switch *ps, unsigned at, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, bool queued, weft_time now);
