/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the captures of all poll drivers share (poll_switch_capture.h, poll_nic_capture.h). Only
 * called for ports that are being captured.
 */

#include "capture.h"
#include "port.h"

/* The whole frame of 'mbuf', with what its device says about it. */
void poll_capture_frame(struct capture *capture, enum pcapng_direction direction,
	struct rte_mbuf *mbuf, weft_time now, const struct capture_state *state);

/* What a frame says of itself: its VC, or why it is refused. True if it is not. */
bool poll_capture_begin(struct rte_mbuf *mbuf, struct capture_state *state);

/* Blocks that the data frames from 'from' on, of a burst of 'count', took from the credits of 'vc':
 * a device takes those of the whole burst before a capture sees the first of it. */
uint32_t poll_capture_blocks_after(
	struct rte_mbuf **mbufs, unsigned from, unsigned count, unsigned vc);
