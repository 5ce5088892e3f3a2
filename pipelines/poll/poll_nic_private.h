/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of the poll driver of an interface (poll_nic*.c). */

#include "capture/capture.h"
#include "poll_nic.h"
#include "wire/frame.h"

/* ---- Captures: each frame is captured with the state that explains it
 * (docs/reference/wire-format.md). Credits are those left to the sender of a data frame after it,
 * in its VC on this link. An interface has no virtual output queues, so the depth is unknown. */

/* Call when 'mbufs' have taken their credits and are about to be sent. */
void poll_nic_capture_out(const struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now);

/* Captures stamped frames and passes them to the port. Without a capture this costs one load and
 * one branch per burst. */
static inline void poll_nic_send(
	struct poll_nic *pn, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct capture *capture = capture_of(pn->port);

	if (__builtin_expect(capture != NULL, 0))
		poll_nic_capture_out(pn, capture, mbufs, count, now);
	tx_queue_send(&pn->tx, mbufs, count, now);
}

/* ---- Commands of the control thread (device_control.h), poll_nic_control.c. */

/* Returns true if the frame's cursor is at the last element and that element is the agent's. */
static inline bool poll_nic_control_at_agent(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return header->cursor + 1 == header->route_length &&
	       frame[FRAME_HEADER_BYTES + header->cursor] == ROUTE_TYPE_AGENT;
}

/* Returns true if a valid frame is for this host's agent. The interface counts other frames of the
 * mapper's kinds as misrouted. */
static inline bool poll_nic_control_is_for(const struct poll_nic *pn, const uint8_t *frame)
{
	unsigned kind = frame_header_const(frame)->kind;

	return (kind == FRAME_SCOUT || kind == FRAME_MAPPER) && pn->mapper.control != NULL &&
	       poll_nic_control_at_agent(frame);
}

/* Call at the end of an iteration: executes commands, then reports links and idleness. */
void poll_nic_control_poll(struct poll_nic *pn, weft_time now);

/* ---- The TAP of an emulated host, poll_nic_tap.c. */

/* Reads frames from the kernel and passes them to the interface. A frame for which the interface
 * has no space is kept and blocks reading, so the kernel's queue fills and TCP slows down. Returns
 * the number of frames moved. */
unsigned poll_nic_tap_read(struct poll_nic_tap *tap, struct nic *nic, weft_time now);

void poll_nic_tap_fini(struct poll_nic_tap *tap);
