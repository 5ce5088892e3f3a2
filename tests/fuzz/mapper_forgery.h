/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Any bytes as payload of a mapper frame, with or without the key. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mapper/mapper_frame.h"
#include "wire/frame.h"
#include "wire/mapper_message.h"

/* Makes the frame with this payload, by the agent's element, with correct CRCs and, given a key, a
 * correct tag in its last bytes. 'frame' has room for FRAME_BYTES_MAX; returns the frame's
 * length. */
static inline unsigned mapper_forgery(
	uint8_t *frame, const uint8_t *payload, unsigned bytes, const struct fabric_key *key)
{
	static const uint8_t route[] = {ROUTE_TYPE_AGENT};
	uint8_t *at = frame + FRAME_HEADER_BYTES + sizeof(route);
	struct frame_fields fields = {.kind = FRAME_MAPPER,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = route,
		.route_length = sizeof(route),
		.payload_bytes = (uint16_t)bytes};

	memcpy(at, payload, bytes);
	if (bytes > 0)
		fields.kind = mapper_type_kind(at[0]);
	if (key != NULL && bytes >= MAPPER_TAG_BYTES)
		fabric_key_tag(key, at, bytes - MAPPER_TAG_BYTES, at + bytes - MAPPER_TAG_BYTES);
	return frame_build(frame, &fields);
}
