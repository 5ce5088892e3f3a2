/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* mbuf data size, shared by mbufs and memif slots: the driver takes a faster path only if these
 * agree.
 */

#include <stdint.h>

#include "frame.h"

/* For VLAN tags of a frame that a virtual device delivers with them. */
#define FRAME_ROOM_SPARE 64

/* The longest frame from the Ethernet header on, for a payload of 'mtu_bytes'. */
static inline uint32_t frame_longest(uint32_t mtu_bytes)
{
	return FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + mtu_bytes;
}

static inline uint32_t frame_room(uint32_t mtu_bytes)
{
	return frame_longest(mtu_bytes) + FRAME_ROOM_SPARE;
}
