/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Discards in a switch: each is counted at the packet's input port, the packet's buffer space is
 * returned, and the packet joins the list from which the driver frees it. */

#include "switch.h"

/* Discards a frame that takes no buffer space. */
static inline void discard_frame(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	sw->port[packet->in_port].count[reason]++;
	packet->out_port = SWITCH_PORT_NONE;
	packet->discard = (uint8_t)reason;
	packet->next = sw->discarded;
	sw->discarded = packet;
}

/* A data packet from a queue. */
static inline void discard_stored(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	credit_release(&sw->port[packet->in_port].link.rx[packet->vc], packet->blocks);
	discard_frame(sw, packet, reason);
}

/* A data packet that was never stored. Its blocks were received and are free again, so the limit
 * advances. */
static inline void discard_arrival(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	if (packet->vc < sw->vcs)
		discard_stored(sw, packet, reason);
	else
		discard_frame(sw, packet, reason);
}
