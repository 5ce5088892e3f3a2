/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Converts a packet of a capture to the input of an audit. */

#include <string.h>

#include "audit.h"
#include "capture_order.h"

/* Precedes the text that 'weft audit --mark' adds to comments. */
#define AUDIT_MARK "audit check "

/* The part of a comment that the device wrote. */
static inline uint32_t audit_comment_bytes(const struct capture_packet *packet)
{
	const char *mark = packet->comment == NULL ? NULL
						   : memmem(packet->comment, packet->comment_bytes,
							     AUDIT_MARK, strlen(AUDIT_MARK));

	return mark == NULL ? packet->comment_bytes : (uint32_t)(mark - packet->comment);
}

/* 'way': the port's direction. Valid as long as the capture is. */
static inline struct audit_frame_at audit_frame_of(const struct capture_ordered *next, uint32_t way)
{
	const struct capture_packet *packet = &next->packet;

	return (struct audit_frame_at){
		.way = way,
		.out = packet->direction == CAPTURE_OUT,
		.gone = packet->direction == CAPTURE_BOTH,
		.time_ns = packet->time_ns,
		.number = packet->number,
		.file = next->file,
		.bytes = packet->bytes,
		.captured_bytes = packet->captured_bytes,
		.frame_bytes = packet->frame_bytes,
		.comment = packet->comment,
		.comment_bytes = audit_comment_bytes(packet),
	};
}
