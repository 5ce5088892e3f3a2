/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Extracts from a checked frame the fields that the switch needs. Inline: runs for each packet. */

#include <arpa/inet.h>
#include <string.h>

#include "forward.h"
#include "frame.h"

static inline void rx_meta_read(struct arrival *arrival, const uint8_t *frame, uint32_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);

	arrival->blocks = frame_blocks(bytes);
	memcpy(&arrival->mutable_word, &header->vc, sizeof(arrival->mutable_word));
	arrival->destination = ntohs(header->destination_be);
	arrival->vc = header->vc;
	arrival->sl = header->sl;
	arrival->route_length = header->route_length;
	arrival->hop = 0;
	if (header->route_length != 0 && header->cursor < header->route_length)
		arrival->hop = frame[FRAME_HEADER_BYTES + header->cursor];
}

static inline void rx_meta_fill(struct weft_packet *packet, const struct arrival *arrival,
	uint32_t bytes, unsigned input, bool control)
{
	packet->bytes = (uint16_t)bytes;
	packet->blocks = (uint16_t)arrival->blocks;
	packet->in_port = (uint8_t)input;
	packet->vc = arrival->vc;
	packet->mutable_word = arrival->mutable_word;
	packet->route_length = arrival->route_length;
	packet->hop = arrival->hop;
	packet->sl = arrival->sl;
	packet->control = control;
	packet->stalled = 0;
	packet->destination = arrival->destination;
}
