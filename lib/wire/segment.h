/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The header in front of the IP packet in a message that carries a TCP segment longer than the
 * connection's segment size. The sending kernel leaves segmentation and the TCP checksum
 * to the interface, and the receiving one accepts the segment as it is: the fabric splits and
 * protects every message itself. Other packets of TAPs have no header. */

#include <stdint.h>

#define SEGMENT_MARK  0x51 /* not an IP version, a synthetic (0) or an endpoint's message (0xE1) */
#define SEGMENT_BYTES 4    /* mark, offset of TCP in words of 4 bytes, segment size (16 bits) */

/* Length of the header at the start of a message; 0: none. */
static inline uint32_t segment_header(const uint8_t *message, uint32_t bytes)
{
	return bytes >= SEGMENT_BYTES && message[0] == SEGMENT_MARK ? SEGMENT_BYTES : 0;
}
