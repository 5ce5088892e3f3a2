/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Packets of TAPs in frames of any origin, cut at any place; and filters on such frames, whose own
 * text can be anything. A packet is no longer than IPv4 allows, and every frame is counted.
 *
 * Input: records (fuzz_record.h), whose payload is a frame after its EtherType; the CRCs are made
 * right unless the command has 0x80. Command 0x40: the text of a filter. */

#include "capture/decap.h"

#include <string.h>

#include "capture/capture_filter.h"
#include "fuzz.h"
#include "fuzz_record.h"
#include "wire/frame.h"

static void read_filter(struct capture_filter *filter, const uint8_t *bytes, uint32_t count)
{
	char text[CAPTURE_FILTER_TEXT], again[CAPTURE_FILTER_TEXT];
	struct capture_filter read;

	if (count >= sizeof(text))
		count = sizeof(text) - 1;
	memcpy(text, bytes, count);
	text[count] = '\0';
	if (!capture_filter_read(&read, text))
		return;
	capture_filter_write(&read, again);
	REQUIRE(strcmp(again, text) == 0);
	*filter = read;
}

/* As its sender would have written it. */
static void seal(uint8_t *frame, uint32_t bytes)
{
	struct frame_header *header = frame_header(frame);

	if (frame_check(frame, bytes) != FRAME_FAULT_HEADER_CRC)
		return;
	header->payload_crc_be = __builtin_bswap32(crc32c(
		frame + frame_payload_offset(header), __builtin_bswap16(header->payload_bytes_be)));
	header->crc_be = __builtin_bswap16(frame_header_crc(frame));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[FRAME_BYTES_MAX];
	struct capture_filter filter;
	struct capture_filter_held held = {{0}};
	struct decap *decap = decap_create();
	struct decap_counts counts;
	struct fuzz_record record;
	uint64_t frames = 0, packets = 0;
	uint64_t sum = 0; /* sum of the last bytes, which reads each packet to its end */

	REQUIRE(decap != NULL);
	capture_filter_init(&filter);
	while (fuzz_record_next(&data, &size, FRAME_BYTES_MAX - FRAME_HEADER_OFFSET, &record)) {
		struct decap_packet packet;
		uint32_t bytes = FRAME_HEADER_OFFSET + record.bytes;

		if (record.command & 0x40) {
			read_filter(&filter, record.payload, record.bytes);
			continue;
		}
		memset(frame, 0, sizeof(frame));
		frame[12] = FRAME_ETHERTYPE >> 8;
		frame[13] = FRAME_ETHERTYPE & 0xFF;
		memcpy(frame + FRAME_HEADER_OFFSET, record.payload, record.bytes);
		if (!(record.command & 0x80))
			seal(frame, bytes);
		capture_filter_matches(&filter, &held, frame, bytes);

		const struct decap_frame one = {frame, bytes, bytes + (record.command >> 4 & 3),
			record.command & 3, record.command >> 2 & 3};

		frames++;
		if (decap_add(decap, &one, &packet) == 1) {
			packets++;
			REQUIRE(packet.packet_bytes <= UINT16_MAX &&
				packet.captured_bytes <= packet.packet_bytes);
			REQUIRE(packet.bytes[0] >> 4 == 4);
			sum += packet.bytes[packet.captured_bytes - 1];
		}
	}
	counts = decap_end(decap);
	REQUIRE(counts.frames == frames && counts.packets == packets);
	REQUIRE(sum <= packets * UINT8_MAX);
	decap_destroy(decap);
	return 0;
}
