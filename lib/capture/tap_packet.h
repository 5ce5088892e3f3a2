/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packets of TAPs in data frames (lib/host/edge.h): a message is an IPv4 packet, which its
 * interface cuts into frames if it is longer than their payload. The bytes can be anything. */

#include <stdint.h>

/* The payload of a data frame. NULL: it is not one, or too short for its header. 'bytes' gets the
 * length that the header gives, at most what is there. */
const uint8_t *tap_packet_payload(const uint8_t *frame, uint32_t frame_bytes, uint32_t *bytes);
/* The length of the IPv4 packet that starts in a payload; 0: none does. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes);
