/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the captures of all poll drivers (poll_switch.c, poll_nic.c). Called
 * only for ports that are being captured. */

#include "capture/capture.h"
#include "port/port.h"

/* Index of the first frame at or after 'from' that matches the capture's filter; the decision
 * whether to drop a frame is left to capture_end(). Returns 'count' if there is none. */
unsigned poll_capture_next(
	const struct capture *capture, struct rte_mbuf **mbufs, unsigned from, unsigned count);

/* Captures the whole frame of 'mbuf', which arrives or leaves through 'port', with the device's
 * state. 'at': when it was on the wire. On a timed link this is its due arrival, or the start of
 * its transmission. */
void poll_capture_frame(struct capture *capture, const struct port *port,
	enum pcapng_direction direction, struct rte_mbuf *mbuf, weft_time at,
	const struct capture_state *state);

/* Fills 'state' from the frame: its VC, or why it is refused. Returns true if it is valid in
 * 'fabric'. */
bool poll_capture_begin(struct rte_mbuf *mbuf, uint16_t fabric, struct capture_state *state);

/* Blocks of credit that the data frames from index 'from' to the end of a burst used in 'vc'. A
 * device takes the credits of the whole burst before it captures the first frame. */
uint32_t poll_capture_blocks_after(
	struct rte_mbuf **mbufs, unsigned from, unsigned count, unsigned vc);
