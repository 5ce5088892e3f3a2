/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Adapted-flow isolation (AFI; Rocher-Gonzalez et al., CCGrid 2019, section IV of the Spanish
 * version): a device that sends a packet through a port other than the deterministic one sets its
 * adapted bit. From the next device on it is stored in the adapted-flow channel (AFC), whatever its
 * service level, and no device adapts it again: adapted packets neither spread further nor share a
 * queue with the others.
 *
 * The AFC is the last VC. The VC of the queuing scheme stays in the header (vc_original). Inline:
 * per packet. Where AFI is off, nothing here is called. */

#include <stdbool.h>

#include "wire/packet.h"

static inline uint8_t afi_channel(uint8_t vcs)
{
	return (uint8_t)(vcs - 1);
}

static inline bool afi_is_adapted(const struct weft_packet *packet)
{
	return (packet->flags & FRAME_F_ADAPTED) != 0;
}

/* Written as one word, like all changes of the mutable bytes inside a switch. */
static inline void afi_adapt(struct weft_packet *packet)
{
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_ADAPTED);
}

/* Where the next device stores the packet; 'vc' is the VC of its service level. */
static inline uint8_t afi_next_vc(const struct weft_packet *packet, uint8_t vc, uint8_t channel)
{
	return afi_is_adapted(packet) ? channel : vc;
}
