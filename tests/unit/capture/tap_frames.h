/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Packets like those from TAPs, and frames that carry them. */

#include <stdint.h>
#include <string.h>

#include "base/rng.h"
#include "wire/frame.h"

/* An IPv4 packet of 60 to 1,259 bytes between 10.99.0.0 and 10.99.0.4. */
static inline uint32_t tap_frames_draw(struct rng *rng, uint8_t *packet)
{
	static const uint8_t protocols[] = {1, 6, 17};
	uint32_t bytes = 60 + (uint32_t)rng_below(rng, 1200), sum = 0;

	for (uint32_t i = 0; i < bytes; i++)
		packet[i] = (uint8_t)rng_next(rng);
	packet[0] = rng_below(rng, 4) == 0 ? 0x46 : 0x45;
	packet[2] = (uint8_t)(bytes >> 8);
	packet[3] = (uint8_t)bytes;
	packet[6] = packet[7] = 0;
	packet[9] = protocols[rng_below(rng, 3)];
	for (unsigned i = 12; i < 20; i += 4)
		memcpy(packet + i, (uint8_t[]){10, 99, 0, (uint8_t)rng_below(rng, 5)}, 4);
	if (rng_below(rng, 3) == 0) /* a port that an expression names */
		memcpy(packet + 22, (uint8_t[]){5201 >> 8, 5201 & 255}, 2);
	packet[10] = packet[11] = 0;
	for (unsigned i = 0; i < 4u * (packet[0] & 15u); i += 2)
		sum += (uint32_t)packet[i] << 8 | packet[i + 1];
	sum = (sum & 0xFFFF) + (sum >> 16);
	sum = ~((sum & 0xFFFF) + (sum >> 16));
	packet[10] = (uint8_t)(sum >> 8);
	packet[11] = (uint8_t)sum;
	return bytes;
}

/* Draws such a packet in a message, one in three a long segment. '*packet_at': its start. */
static inline uint32_t tap_frames_draw_message(
	struct rng *rng, uint8_t *message, uint32_t *packet_at)
{
	*packet_at = rng_below(rng, 3) == 0 ? SEGMENT_BYTES : 0;
	memcpy(message, (uint8_t[]){SEGMENT_MARK, 5, 1, 0}, SEGMENT_BYTES);
	return *packet_at + tap_frames_draw(rng, message + *packet_at);
}

/* Returns the bytes of the frame. */
static inline uint32_t tap_frames_build(
	uint8_t *frame, struct frame_fields *fields, const uint8_t *payload, uint32_t bytes)
{
	fields->payload_bytes = (uint16_t)bytes;
	memset(frame, 0, FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES);
	memcpy(frame + FRAME_HEADER_BYTES + fields->route_length +
			(fields->flags & FRAME_F_LATENCY ? FRAME_LATENCY_BYTES : 0),
		payload, bytes);
	return frame_build(frame, fields);
}
