/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packets of TAPs in data frames (lib/host/edge.h): a message is an IPv4 packet, which the
 * interface splits if it is longer than a frame's payload. Safe for any input. */

#include <stdint.h>

/* The payload of a data frame. NULL: not a data frame, or shorter than its header. 'bytes' gets the
 * length in the header, limited to the bytes present. */
const uint8_t *tap_packet_payload(const uint8_t *frame, uint32_t frame_bytes, uint32_t *bytes);
/* The length of the IPv4 packet that starts in the payload; 0: none. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes);
