/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Extracts the fields that the switch needs from a valid frame. Inline: runs for each packet. */

#include <arpa/inet.h>
#include <string.h>

#include "wire/frame.h"
#include "wire/packet.h"

static inline void rx_meta_read(struct weft_packet *packet, const uint8_t *frame, uint32_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);

	packet->blocks = (uint16_t)frame_blocks(bytes);
	memcpy(&packet->mutable_word, &header->vc, sizeof(packet->mutable_word));
	packet->destination = ntohs(header->destination_be);
	packet->vc = header->vc;
	packet->sl = header->sl;
	packet->route_length = header->route_length;
	packet->hop = 0;
	if (header->route_length != 0 && header->cursor < header->route_length)
		packet->hop = frame[FRAME_HEADER_BYTES + header->cursor];
}

/* Fills in the whole descriptor of a frame that the switch may store. */
static inline void rx_meta_fill(struct weft_packet *packet, const uint8_t *frame, uint32_t bytes,
	unsigned input, bool control)
{
	rx_meta_read(packet, frame, bytes);
	packet->bytes = (uint16_t)bytes;
	packet->in_port = (uint8_t)input;
	packet->source = ntohs(frame_header_const(frame)->source_be);
	packet->message = ntohl(frame_header_const(frame)->message_be);
	packet->sequence = ntohl(frame_header_const(frame)->sequence_be);
	packet->injected_ns = ntohl(frame_header_const(frame)->injected_ns_be);
	packet->route = frame + FRAME_HEADER_BYTES;
	packet->control = control;
	packet->stalled = 0;
}
