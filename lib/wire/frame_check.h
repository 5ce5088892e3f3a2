/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The part of frame_check() that every received frame passes, inline for the poll loops. A good
 * data frame takes few instructions, and its CRC computation overlaps with its neighbours' in the
 * burst. */

#include <arpa/inet.h>

#include "frame.h"

/* Returns true for kinds that never leave their link. Their frames have no route. */
static inline bool frame_link_local(unsigned kind)
{
	return kind == FRAME_CREDIT || kind == FRAME_HELLO || kind == FRAME_ARN;
}

/* Returns the first fault that is found in a frame. */
enum frame_fault frame_find_fault(const uint8_t *frame, size_t bytes);

/* Same as frame_header_crc_ok(), for a route longer than one word or too close to the end of the
 * frame to read a whole word. route_length is in range, and 'bytes' cover header and route. */
bool frame_crc_long_route_ok(const uint8_t *frame);

/* Checks the header CRC. route_length must be in range, and 'bytes' must cover header and route. */
static inline __attribute__((always_inline)) bool frame_header_crc_ok(
	const uint8_t *frame, size_t bytes)
{
	unsigned length = frame_header_const(frame)->route_length;

	if (length == 0)
		return crc_header_matches(NULL, 0, frame_header_const(frame));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	/* Usually the route fits in one word; the bytes after it are masked off. */
	if (__builtin_expect(length <= 8 && bytes >= FRAME_HEADER_BYTES + 8, 1)) {
		uint64_t word;

		memcpy(&word, frame + FRAME_HEADER_BYTES, sizeof(word));
		word &= UINT64_MAX >> (64 - 8 * length);
		return crc_header_matches(&word, 1, frame_header_const(frame));
	}
#endif
	return frame_crc_long_route_ok(frame);
}

/* Returns true if SL and both VCs are below 16 (the upper halves of their bytes are zero) and the
 * latency flag is clear. The quick form does not check an extension's length. */
_Static_assert(FRAME_VCS_MAX == 16, "a VC is four bits");
static inline bool frame_is_in_quick_range(const struct frame_header *header)
{
	uint32_t word;

	memcpy(&word, &header->vc, sizeof(word));
	return ((word | MUTABLE_VC(header->sl)) & (MUTABLE_VC(0xF0) | MUTABLE_ORIGINAL(0xF0) |
							  MUTABLE_FLAGS(FRAME_F_LATENCY))) == 0;
}

/* Returns true for a data frame of this version: EtherType, version and kind are adjacent. */
static inline bool frame_is_data(const uint8_t *frame)
{
	const uint32_t data =
		htonl((uint32_t)FRAME_ETHERTYPE << 16 | FRAME_VERSION << 8 | FRAME_DATA);
	uint32_t identity;

	memcpy(&identity, frame + 12, sizeof(identity));
	return identity == data;
}

/* Returns true if the frame has this identity. 'frame' must hold a complete header. */
static inline bool frame_has_identity(const uint8_t *frame, const struct frame_identity *identity)
{
	uint64_t found;

	memcpy(&found, frame + FRAME_IDENTITY_AT, sizeof(found));
	return ((found ^ identity->wanted) & identity->mask) == 0;
}

/* Checks a data frame after its identity. 'bytes' must cover a complete header. */
static inline __attribute__((always_inline)) bool frame_is_good_behind_identity(
	const uint8_t *frame, size_t bytes)
{
	const struct frame_header *header = frame_header_const(frame);

	return __builtin_expect(header->route_length <= FRAME_ROUTE_MAX, 1) &&
	       __builtin_expect((size_t)header->route_length + ntohs(header->payload_bytes_be) <=
					bytes - FRAME_HEADER_BYTES,
		       1) &&
	       __builtin_expect(header->cursor <= header->route_length, 1) &&
	       __builtin_expect(frame_is_in_quick_range(header), 1) &&
	       __builtin_expect(frame_header_crc_ok(frame, bytes), 1);
}

/* Returns true for a data frame without fault and without latency extension, from any fabric and
 * source, in few instructions. Any other frame is of a different kind, has an extension, or is
 * faulty; frame_find_fault() tells which. */
static inline __attribute__((always_inline)) bool frame_is_good_data(
	const uint8_t *frame, size_t bytes)
{
	return __builtin_expect(bytes >= FRAME_HEADER_BYTES, 1) &&
	       __builtin_expect(frame_is_data(frame), 1) &&
	       frame_is_good_behind_identity(frame, bytes);
}

/* Same as frame_is_good_data(), for the fabric and source of 'identity'. */
static inline __attribute__((always_inline)) bool frame_is_good_data_as(
	const uint8_t *frame, size_t bytes, const struct frame_identity *identity)
{
	return __builtin_expect(bytes >= FRAME_HEADER_BYTES, 1) &&
	       __builtin_expect(frame_has_identity(frame, identity), 1) &&
	       frame_is_good_behind_identity(frame, bytes);
}
