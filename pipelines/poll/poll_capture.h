/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the captures of all poll drivers (poll_switch.c, poll_nic.c). Called only for ports
 * that are being captured. */

#include "capture/capture.h"
#include "port/port.h"

/* Returns the index of the first frame from 'from' on that matches the capture's filter, or
 * 'count'. capture_end() decides later whether to drop the frame. */
unsigned poll_capture_next(
	const struct capture *capture, struct rte_mbuf **mbufs, unsigned from, unsigned count);

/* Captures the whole frame of 'mbuf', received or sent through 'port', with the device's state.
 * 'at' is when the frame was on the wire; on a timed link, its due arrival or the start of its
 * transmission. */
void poll_capture_frame(struct capture *capture, const struct port *port,
	enum pcapng_direction direction, struct rte_mbuf *mbuf, weft_time at,
	const struct capture_state *state);

/* Sets 'state' from the frame: its VC, or why it is refused. Returns true if it is valid in
 * 'fabric'. */
bool poll_capture_begin(struct rte_mbuf *mbuf, uint16_t fabric, struct capture_state *state);

/* Returns the credit blocks used by the data frames in 'vc' from index 'from' to the end of a
 * burst. A device takes the credits of the whole burst before it captures the first frame. */
uint32_t poll_capture_blocks_after(
	struct rte_mbuf **mbufs, unsigned from, unsigned count, unsigned vc);
