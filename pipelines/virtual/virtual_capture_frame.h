/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The frames of packets and control frames of a virtual fabric (virtual_trace.h), as on the wire.
 */

#include "virtual_trace.h"

/* Of a packet: all in front of the payload. */
unsigned virtual_capture_header_bytes(const struct virtual_trace_record *record);

/* Builds a packet's headers in 'frame', before a payload of zeros that is there already. Returns
 * the frame's length in bytes, at most FRAME_BYTES_MAX. */
unsigned virtual_capture_packet(uint8_t *frame, const struct virtual_trace_record *record);

/* Builds a credit frame or a notification. Returns its length in bytes. */
unsigned virtual_capture_control(uint8_t *frame, const struct virtual_trace_record *record);
