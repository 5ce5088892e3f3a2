/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A host's poll loop and the control thread (device_control.h): the rare half of poll_nic.c. */

#include "frame.h"
#include "poll_nic.h"

/* The frame's last element, the agent's, is at the cursor. */
static inline bool poll_nic_control_at_agent(const uint8_t *frame)
{
	const struct frame_header *header = frame_header_const(frame);

	return header->cursor + 1 == header->route_length &&
	       frame[FRAME_HEADER_BYTES + header->cursor] == ROUTE_TYPE_AGENT;
}

/* A good frame is for the agent of this host. Other frames of the mapper's kinds have gone astray;
 * the interface counts them. */
static inline bool poll_nic_control_is_for(const struct poll_nic *pn, const uint8_t *frame)
{
	unsigned kind = frame_header_const(frame)->kind;

	return (kind == FRAME_SCOUT || kind == FRAME_MAPPER) && pn->mapper.control != NULL &&
	       poll_nic_control_at_agent(frame);
}

/* The end of a turn: orders, then what there is to tell. */
void poll_nic_control_turn(struct poll_nic *pn, weft_time now);

/* Frees a chain of packets of the interface. */
void poll_nic_free_chain(struct weft_packet *packet);
