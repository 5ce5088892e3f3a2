/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The half of frame_check() that every arriving frame goes through, inline for the poll loops: a
 * good data frame takes few instructions, and its CRC overlaps with its neighbours' in the burst.
 */

#include <arpa/inet.h>

#include "frame.h"

/* Kinds that never leave their link; they have no route. */
static inline bool frame_link_local(unsigned kind)
{
	return kind == FRAME_CREDIT || kind == FRAME_HELLO;
}

/* The first fault of a frame in the order of the checks. */
enum frame_fault frame_find_fault(const uint8_t *frame, size_t bytes);

/* The CRC of a header with more route than one word, or too near to the end of the frame to read a
 * whole one; route_length is in range and 'bytes' hold header and route. */
uint16_t frame_crc_long_route(const uint8_t *frame);

static inline __attribute__((always_inline)) uint16_t frame_crc_inline(
	const uint8_t *frame, size_t bytes)
{
	unsigned length = frame_header_const(frame)->route_length;

	if (length == 0)
		return crc_header(NULL, 0, frame_header_const(frame));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* The usual route is one word; what follows it in the frame is masked off. */
	if (__builtin_expect(length <= 8 && bytes >= FRAME_HEADER_BYTES + 8, 1)) {
		uint64_t word;

		memcpy(&word, frame + FRAME_HEADER_BYTES, sizeof(word));
		word &= UINT64_MAX >> (64 - 8 * length);
		return crc_header(&word, 1, frame_header_const(frame));
	}
#endif
	return frame_crc_long_route(frame);
}

/* True for a data frame without fault, in few instructions. What is not is either another kind or
 * has a fault: frame_find_fault() tells. */
static inline __attribute__((always_inline)) bool frame_is_good_data(
	const uint8_t *frame, size_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);
	const uint8_t identity[4] = {
		FRAME_ETHERTYPE >> 8, FRAME_ETHERTYPE & 0xFF, FRAME_VERSION, FRAME_DATA};

	return __builtin_expect(bytes >= FRAME_HEADER_BYTES, 1) &&
	       __builtin_expect(memcmp(frame + 12, identity, sizeof(identity)) == 0, 1) &&
	       __builtin_expect(header->route_length <= FRAME_ROUTE_MAX, 1) &&
	       __builtin_expect(
		       frame_payload_offset(header) + (size_t)ntohs(header->payload_bytes_be) <=
			       bytes,
		       1) &&
	       __builtin_expect(header->cursor <= header->route_length, 1) &&
	       __builtin_expect(
		       (header->vc | header->vc_original | header->sl) < FRAME_VCS_MAX, 1) &&
	       __builtin_expect(header->crc_be == htons(frame_crc_inline(frame, bytes)), 1);
}
