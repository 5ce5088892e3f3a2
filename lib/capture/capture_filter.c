/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_filter.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <pcap/pcap.h>
#include <stddef.h>
#include <stdio.h>

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

/* The header checksum distinguishes the start of a packet from all other payload. */
uint32_t tap_packet_bytes(const uint8_t *payload, uint32_t bytes)
{
	uint32_t header, length, sum = 0, before = segment_header(payload, bytes);

	payload += before;
	bytes -= before;
	if (bytes < IPV4_BYTES || payload[0] >> 4 != 4)
		return 0;
	header = 4u * (payload[0] & 15u);
	length = (uint32_t)payload[2] << 8 | payload[3];
	if (header < IPV4_BYTES || header > bytes || length < header || length < bytes)
		return 0;
	for (uint32_t i = 0; i < header; i += 2)
		sum += (uint32_t)payload[i] << 8 | payload[i + 1];
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (sum & 0xFFFF) + (sum >> 16) == 0xFFFF ? before + length : 0;
}

#define STEP_DIGITS 14u /* per step; classic BPF codes are below 256 */
#define ALL         UINT16_MAX

_Static_assert(sizeof(struct capture_filter_step) == sizeof(struct bpf_insn) &&
		       offsetof(struct capture_filter_step, k) == offsetof(struct bpf_insn, k),
	"libpcap can run the programs");
_Static_assert(CAPTURE_FILTER_TEXT > CAPTURE_FILTER_STEPS * STEP_DIGITS + 48, "a filter fits");
_Static_assert(CAPTURE_FILTER_WORD_AT == FRAME_HEADER_OFFSET, "the word starts with the version");

void capture_filter_init(struct capture_filter *filter)
{
	memset(filter, 0, sizeof(*filter));
	filter->kinds = filter->vcs = ALL;
}

static void require(struct capture_filter *filter, size_t at, const void *value, size_t bytes)
{
	memcpy((uint8_t *)&filter->word + at, value, bytes);
	memset((uint8_t *)&filter->mask + at, 0xFF, bytes);
}

void capture_filter_set_kinds(struct capture_filter *filter, uint16_t kinds)
{
	filter->kinds &= kinds;
	if (filter->kinds != 0 && (filter->kinds & (filter->kinds - 1)) == 0)
		require(filter, offsetof(struct frame_header, kind),
			&(uint8_t){(uint8_t)__builtin_ctz(filter->kinds)}, 1);
}

void capture_filter_set_source(struct capture_filter *filter, uint16_t host)
{
	require(filter, offsetof(struct frame_header, source_be), &(uint16_t){htons(host)}, 2);
}

void capture_filter_set_destination(struct capture_filter *filter, uint16_t host)
{
	require(filter, offsetof(struct frame_header, destination_be), &(uint16_t){htons(host)}, 2);
}

static uint64_t message_of(const struct frame_header *header)
{
	return (uint64_t)header->source_be << 48 | (uint64_t)header->destination_be << 32 |
	       header->message_be;
}

static uint64_t *held_at(struct capture_filter_held *held, uint64_t message)
{
	return &held->message[message * UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

_Static_assert(CAPTURE_FILTER_HELD == 256, "the hash has eight bits");

static bool packet_matches(const struct capture_filter *filter, struct capture_filter_held *held,
	const uint8_t *bytes, uint32_t frame_bytes)
{
	uint32_t payload_bytes, packet_bytes, header;
	const uint8_t *payload = tap_packet_payload(bytes, frame_bytes, &payload_bytes);
	uint64_t message, *place;
	bool matches;

	if (payload == NULL)
		return false;
	message = message_of(frame_header_const(bytes));
	place = held != NULL ? held_at(held, message) : NULL;
	packet_bytes = tap_packet_bytes(payload, payload_bytes);
	if (packet_bytes == 0)
		return place != NULL && *place == message && message != 0;
	header = segment_header(payload, payload_bytes);
	matches = bpf_filter((const struct bpf_insn *)(const void *)filter->program,
			  payload + header, packet_bytes - header, payload_bytes - header) != 0;
	if (place != NULL && matches)
		*place = message;
	else if (place != NULL && *place == message)
		*place = 0;
	return matches;
}

bool capture_filter_matches(const struct capture_filter *filter, struct capture_filter_held *held,
	const uint8_t *bytes, uint32_t frame_bytes)
{
	const struct frame_header *header = frame_header_const(bytes);
	uint64_t word;

	if (frame_bytes < FRAME_HEADER_BYTES)
		return filter->mask == 0 && filter->kinds == ALL && filter->vcs == ALL &&
		       filter->steps == 0;
	memcpy(&word, bytes + CAPTURE_FILTER_WORD_AT, sizeof(word));
	if ((word & filter->mask) != filter->word ||
		(filter->kinds != ALL &&
			(header->kind >= 16 || (filter->kinds >> header->kind & 1) == 0)) ||
		(filter->vcs != ALL && (header->vc >= 16 || (filter->vcs >> header->vc & 1) == 0)))
		return false;
	return filter->steps == 0 || packet_matches(filter, held, bytes, frame_bytes);
}

void capture_filter_write(const struct capture_filter *filter, char text[CAPTURE_FILTER_TEXT])
{
	int used = snprintf(text, CAPTURE_FILTER_TEXT,
		"%016" PRIx64 "%016" PRIx64 "%08" PRIx32 "%04x%04x%x", filter->word, filter->mask,
		filter->snap_bytes, filter->kinds, filter->vcs, filter->dropped);

	for (unsigned i = 0; i < filter->steps; i++)
		used += snprintf(text + used, (size_t)(CAPTURE_FILTER_TEXT - used),
			"%02x%02x%02x%08" PRIx32, filter->program[i].code, filter->program[i].jt,
			filter->program[i].jf, filter->program[i].k);
}

/* bpf_validate() accepts codes on which bpf_filter() aborts. */
static bool is_code(unsigned code)
{
	/* clang-format off: one class per line */
	static const uint8_t codes[] = {
		0x00, 0x20, 0x28, 0x30, 0x40, 0x48, 0x50, 0x60, 0x80, /* ld */
		0x01, 0x61, 0x81, 0xB1,                               /* ldx */
		0x02, 0x03,                                           /* st, stx */
		0x04, 0x0C, 0x14, 0x1C, 0x24, 0x2C, 0x34, 0x3C,       /* alu */
		0x44, 0x4C, 0x54, 0x5C, 0x64, 0x6C, 0x74, 0x7C, 0x84, 0x94, 0x9C, 0xA4, 0xAC, 0x05,
		0x15, 0x1D, 0x25, 0x2D, 0x35, 0x3D, 0x45, 0x4D, /* jmp */
		0x06, 0x16,                                     /* ret */
		0x07, 0x87,                                     /* tax, txa */
	};
	/* clang-format on */

	return memchr(codes, (int)code, sizeof(codes)) != NULL;
}

bool capture_filter_read(struct capture_filter *filter, const char *text)
{
	unsigned dropped, jt, jf, code;
	int used = 0;

	capture_filter_init(filter);
	if (strspn(text, "0123456789abcdef") != strlen(text) ||
		sscanf(text, "%16" SCNx64 "%16" SCNx64 "%8" SCNx32 "%4" SCNx16 "%4" SCNx16 "%1x%n",
			&filter->word, &filter->mask, &filter->snap_bytes, &filter->kinds,
			&filter->vcs, &dropped, &used) != 6 ||
		dropped > 1)
		return false;
	filter->dropped = dropped != 0;
	for (text += used; *text != '\0'; text += STEP_DIGITS) {
		struct capture_filter_step *step = &filter->program[filter->steps];

		if (filter->steps == CAPTURE_FILTER_STEPS || strlen(text) < STEP_DIGITS ||
			sscanf(text, "%2x%2x%2x%8" SCNx32, &code, &jt, &jf, &step->k) != 4 ||
			!is_code(code))
			return false;
		step->code = (uint16_t)code;
		step->jt = (uint8_t)jt;
		step->jf = (uint8_t)jf;
		filter->steps++;
	}
	return filter->steps == 0 ||
	       bpf_validate((const struct bpf_insn *)(const void *)filter->program, filter->steps);
}
