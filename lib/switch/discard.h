/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How a switch loses a packet: counted at the port it came in by, its buffer space given back, and
 * kept on the list from which the driver frees it. */

#include "switch.h"

static inline void discard_push(struct weft_switch *sw, struct weft_packet *packet)
{
	packet->next = sw->discarded;
	sw->discarded = packet;
}

/* A packet that was never stored. */
static inline void discard_arrival(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	sw->port[packet->in_port].count[reason]++;
	/* Its blocks were received and are free again: the limit moves on. */
	if (packet->vc < sw->vcs)
		switch_release(sw, packet);
	discard_push(sw, packet);
}

/* A data packet from a queue. */
static inline void discard_stored(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	sw->port[packet->in_port].count[reason]++;
	switch_release(sw, packet);
	discard_push(sw, packet);
}

static inline void discard_control(
	struct weft_switch *sw, struct weft_packet *packet, enum switch_counter reason)
{
	sw->port[packet->in_port].count[reason]++;
	discard_push(sw, packet);
}
