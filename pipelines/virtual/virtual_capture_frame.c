/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_capture.h"

#include <string.h>

#define HEADERS_MAX (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + FRAME_LATENCY_BYTES)

unsigned virtual_capture_header_bytes(const struct virtual_trace_record *record)
{
	return FRAME_HEADER_BYTES + record->packet->route_length +
	       (record->extension != NULL ? FRAME_LATENCY_BYTES : 0);
}

unsigned virtual_capture_packet(uint8_t *frame, const struct virtual_trace_record *record)
{
	const struct weft_packet *packet = record->packet;
	unsigned headers = virtual_capture_header_bytes(record);
	const struct frame_fields fields = {
		.kind = (enum frame_kind)packet->kind,
		.source = packet->source,
		.destination = packet->destination,
		.sl = packet->sl,
		.vc = packet->header_vc,
		.vc_original = packet->vc_original,
		.flags = packet->flags,
		.message = packet->message,
		.sequence = packet->sequence,
		.injected_ns = packet->injected_ns,
		.route = packet->route,
		.route_length = packet->route_length,
		.payload_bytes = (uint16_t)(packet->bytes - headers),
	};
	unsigned bytes;

	memset(frame, 0, HEADERS_MAX);
	if (record->extension != NULL)
		memcpy(frame + headers - FRAME_LATENCY_BYTES, record->extension,
			FRAME_LATENCY_BYTES);
	bytes = frame_build(frame, &fields);
	frame_update_mutable(frame, packet->mutable_word);
	return bytes;
}

unsigned virtual_capture_control(uint8_t *frame, const struct virtual_trace_record *record)
{
	struct frame_fields fields = {.kind = record->credit != NULL ? FRAME_CREDIT : FRAME_ARN,
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE};
	uint8_t payload[CONTROL_CREDIT_BYTES_MAX];
	unsigned bytes;

	fields.payload_bytes =
		(uint16_t)(record->credit != NULL ? control_credit_encode(record->credit, payload)
						  : control_arn_encode(record->arn, payload));
	memcpy(frame + FRAME_HEADER_BYTES, payload, fields.payload_bytes);
	bytes = frame_build(frame, &fields);
	return bytes;
}
