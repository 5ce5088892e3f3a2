/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_frame.h"

#include <arpa/inet.h>

#include "base/name_table.h"

const char *mapper_refusal_name(enum mapper_refusal refusal)
{
	static const char *const names[] = {MAPPER_REFUSALS(WORD_TEXT)};

	return names[refusal];
}

void mapper_frame_build(struct mapper_speaker *speaker, struct mapper_message *message,
	const uint8_t *route, unsigned length, struct mapper_frame *frame)
{
	uint8_t *payload = frame->data + FRAME_HEADER_BYTES + length;
	struct frame_fields fields = {
		.kind = mapper_type_kind(message->type),
		.fabric = speaker->fabric,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE,
		.route = route,
		.route_length = (uint8_t)length,
	};

	message->sender = speaker->id;
	message->counter = ++speaker->counter;
	message->keyed = speaker->key != NULL;
	fields.payload_bytes = (uint16_t)mapper_message_encode(message, payload);
	if (speaker->key != NULL) {
		unsigned covered = fields.payload_bytes - MAPPER_TAG_BYTES;

		fabric_key_tag(speaker->key, payload, covered, payload + covered);
	}
	frame->bytes = frame_build(frame->data, &fields);
}

enum mapper_refusal mapper_frame_open(const struct fabric_key *key, const uint8_t *data,
	unsigned bytes, struct mapper_message *message)
{
	const struct frame_header *header = frame_header_const(data);
	const uint8_t *payload;
	unsigned length, covered;

	if (frame_check(data, bytes) != FRAME_FAULT_OK ||
		(header->kind != FRAME_SCOUT && header->kind != FRAME_MAPPER) ||
		!frame_payload_ok(data))
		return MAPPER_REFUSED_FRAME;
	payload = data + frame_payload_offset(header);
	length = ntohs(header->payload_bytes_be);
	if (!mapper_message_decode(message, payload, length) ||
		mapper_type_kind(message->type) != header->kind)
		return MAPPER_REFUSED_MALFORMED;
	covered = length - MAPPER_TAG_BYTES;
	if (key == NULL)
		return message->keyed ? MAPPER_REFUSED_KEYED : MAPPER_REFUSED_NONE;
	if (!message->keyed)
		return MAPPER_REFUSED_UNKEYED;
	return fabric_key_matches(key, payload, covered, payload + covered) ? MAPPER_REFUSED_NONE
									    : MAPPER_REFUSED_FORGED;
}
