/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "tap_packet.h"

#include <arpa/inet.h>
#include <stddef.h>

#include "wire/frame.h"

#define IPV4_BYTES 20u

const uint8_t *tap_packet_payload(const uint8_t *frame, uint32_t frame_bytes, uint32_t *bytes)
{
	const struct frame_header *header = frame_header_const(frame);
	uint32_t offset, payload;

	if (frame_bytes < FRAME_HEADER_BYTES || header->kind != FRAME_DATA ||
		header->route_length > FRAME_ROUTE_MAX)
		return NULL;
	offset = frame_payload_offset(header);
	payload = ntohs(header->payload_bytes_be);
	if (offset >= frame_bytes)
		return NULL;
	*bytes = payload < frame_bytes - offset ? payload : frame_bytes - offset;
	return frame + offset;
}

/* The header's checksum distinguishes the start of a packet from the middle of one and from the
 * payload of Weft's own traffic. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes)
{
	uint32_t header, length, sum = 0;

	if (bytes < IPV4_BYTES || payload[0] >> 4 != 4)
		return 0;
	header = 4u * (payload[0] & 15u);
	length = (uint32_t)payload[2] << 8 | payload[3];
	if (header < IPV4_BYTES || header > bytes || length < header || length < bytes)
		return 0;
	for (uint32_t i = 0; i < header; i += 2)
		sum += (uint32_t)payload[i] << 8 | payload[i + 1];
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (sum & 0xFFFF) + (sum >> 16) == 0xFFFF ? length : 0;
}
