/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of the poll driver of an interface (poll_nic*.c). */

#include "capture/capture.h"
#include "poll_nic.h"
#include "wire/frame.h"

/* ---- poll_nic_capture.c. Each frame is captured with the state that explains it
 * (docs/reference/wire-format.md). Credits are what the sender of a data frame has left after the
 * frame, in the frame's VC on this link. An interface has no virtual output queues, so no depth is
 * given. */

/* 'mbufs' have taken their credits and are about to be sent. */
void poll_nic_capture_out(const struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now);

/* Captures stamped frames and passes them to the port. Without a capture this costs one load and a
 * branch per burst. */
static inline void poll_nic_send(
	struct poll_nic *pn, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct capture *capture = capture_of(pn->port);

	if (__builtin_expect(capture != NULL, 0))
		poll_nic_capture_out(pn, capture, mbufs, count, now);
	tx_queue_send(&pn->tx, mbufs, count, now);
}

/* ---- poll_nic_control.c: commands of the control thread (device_control.h). */

/* True if the cursor of the frame is at its last element, and that is the agent's. */
static inline bool poll_nic_control_at_agent(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return header->cursor + 1 == header->route_length &&
	       frame[FRAME_HEADER_BYTES + header->cursor] == ROUTE_TYPE_AGENT;
}

/* True if the valid frame is for this host's agent. The interface counts other frames of the
 * mapper's kinds as misrouted. */
static inline bool poll_nic_control_is_for(const struct poll_nic *pn, const uint8_t *frame)
{
	unsigned kind = frame_header_const(frame)->kind;

	return (kind == FRAME_SCOUT || kind == FRAME_MAPPER) && pn->mapper.control != NULL &&
	       poll_nic_control_at_agent(frame);
}

/* At the end of an iteration: carries out commands, then reports links and idleness. */
void poll_nic_control_poll(struct poll_nic *pn, weft_time now);

/* ---- poll_nic_tap.c: the TAP of an emulated host. */

/* Reads frames from the kernel and hands them to the interface. A frame that the interface has no
 * room for is kept and blocks reading, so the kernel's queue fills and TCP slows down. Returns the
 * number of frames moved. */
unsigned poll_nic_tap_read(struct poll_nic_tap *tap, struct nic *nic, weft_time now);

void poll_nic_tap_fini(struct poll_nic_tap *tap);
