/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How great the buffers of frames are: one number for mbufs, memif slots and packet rings, because
 * the drivers take a shorter way, or work at all, when these agree. */

#include <stdint.h>

#include "frame.h"

/* af_packet wants room in an mbuf for a slot of its ring without the first 32 bytes; the kernel
 * uses 66 before the frame, and slots are multiples of 16. */
#define FRAME_ROOM_SPARE 64

/* The longest frame, from the Ethernet header on. 'mtu_bytes': its payload. */
static inline uint32_t frame_longest(uint32_t mtu_bytes)
{
	return FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + mtu_bytes;
}

static inline uint32_t frame_room(uint32_t mtu_bytes)
{
	return frame_longest(mtu_bytes) + FRAME_ROOM_SPARE;
}
