/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "wire/pcapng_format.h"

/* draft-ietf-opsawg-pcap */
#define PCAP_US 0xA1B2C3D4u
#define PCAP_NS 0xA1B23C4Du

#define PCAP_HEADER    24u
#define PCAP_RECORD    16u
#define ETHERNET       1u
#define NS_PER_S       1000000000u
#define INTERFACES_MAX (1u << 22)
#define TIME_S_MAX     4000000000u /* the year 2096, so that sums of times do not overflow */

static uint32_t word_at(const struct capture_reader *reader, size_t at)
{
	uint32_t word;

	memcpy(&word, reader->data + at, sizeof(word));
	return reader->swapped ? __builtin_bswap32(word) : word;
}

static uint16_t half_at(const struct capture_reader *reader, size_t at)
{
	uint16_t half;

	memcpy(&half, reader->data + at, sizeof(half));
	return reader->swapped ? __builtin_bswap16(half) : half;
}

/* Reads eight bytes in the file's byte order. */
static uint64_t long_at(const struct capture_reader *reader, size_t at)
{
	uint64_t value;

	memcpy(&value, reader->data + at, sizeof(value));
	return reader->swapped ? __builtin_bswap64(value) : value;
}

static int damaged(const struct capture_reader *reader, struct error *error, const char *what)
{
	return error_set(error, EINVAL, "%s: byte %zu: %s", reader->path, reader->at, what);
}

/* An option in a block. next_option() advances it, and returns false at the end of the list. */
struct option_at {
	size_t next, value;
	uint16_t code, bytes;
};

static bool next_option(const struct capture_reader *reader, struct option_at *option, size_t end)
{
	if (end - option->next < 4)
		return false;
	option->code = half_at(reader, option->next);
	option->bytes = half_at(reader, option->next + 2);
	option->value = option->next + 4;
	if (option->code == PCAPNG_OPTION_END || end - option->value < option->bytes)
		return false;
	option->next = option->value + ((option->bytes + 3u) & ~3u);
	if (option->next > end)
		option->next = end;
	return true;
}

static uint64_t resolution(uint8_t code)
{
	uint64_t ticks = 1;

	if (code & 0x80)
		return (code & 0x7F) < 63 ? (uint64_t)1 << (code & 0x7F) : 0;
	for (unsigned i = 0; i < code && ticks <= UINT64_MAX / 10; i++)
		ticks *= 10;
	return code <= 18 ? ticks : 0;
}

static int add_interface(struct capture_reader *reader, size_t end, struct error *error)
{
	struct capture_interface interface = {
		.ticks_per_s = 1000000, .first_ns = UINT64_MAX, .received = UINT64_MAX};
	struct option_at option = {.next = reader->at + 16};

	if (end < option.next)
		return damaged(reader, error, "an interface block is too short");
	if (half_at(reader, reader->at + 8) != ETHERNET)
		return error_set(error, EINVAL,
			"%s: the link type is %u, but must be Ethernet "
			"(1)",
			reader->path, half_at(reader, reader->at + 8));
	while (next_option(reader, &option, end)) {
		if (option.code == PCAPNG_OPTION_NAME && option.bytes < CAPTURE_NAME_MAX)
			memcpy(interface.name, reader->data + option.value, option.bytes);
		else if (option.code == PCAPNG_OPTION_RESOLUTION && option.bytes == 1)
			interface.ticks_per_s = resolution(reader->data[option.value]);
		else if (option.code == PCAPNG_OPTION_OFFSET && option.bytes == 8)
			interface.offset_s = (int64_t)long_at(reader, option.value);
		else if (option.code == PCAPNG_OPTION_SPEED && option.bytes == 8)
			interface.rate_bps = long_at(reader, option.value);
		else if (option.code == PCAPNG_OPTION_FILTER && option.bytes > 0) {
			/* The text follows one byte with the kind of filter. */
			interface.filter = (const char *)reader->data + option.value + 1;
			interface.filter_bytes = option.bytes - 1u;
		}
	}
	if (interface.ticks_per_s == 0 || interface.offset_s < 0 ||
		interface.offset_s > (int64_t)TIME_S_MAX)
		return damaged(reader, error, "unknown time resolution or offset");
	if (reader->seen < reader->interfaces) {
		reader->seen++; /* was added when the file was opened */
		return 0;
	}
	if (reader->interfaces >= INTERFACES_MAX ||
		!array_reserve(&reader->interface, &reader->room, reader->interfaces + 1u,
			sizeof(interface)))
		return error_set(
			error, ENOMEM, "%s: not enough memory for the interfaces", reader->path);
	reader->interface[reader->interfaces++] = interface;
	reader->seen++;
	return 0;
}

/* Returns the index of the interface with this number in the section, or UINT32_MAX. */
static uint32_t interface_of(const struct capture_reader *reader, uint32_t number)
{
	return number < reader->seen - reader->section ? reader->section + number : UINT32_MAX;
}

static int add_counts(struct capture_reader *reader, size_t end, struct error *error)
{
	struct option_at option = {.next = reader->at + 20};
	uint32_t interface = end >= option.next
				     ? interface_of(reader, word_at(reader, reader->at + 8))
				     : UINT32_MAX;

	if (interface == UINT32_MAX)
		return damaged(reader, error, "statistics for an unknown interface");
	while (next_option(reader, &option, end))
		if (option.code == PCAPNG_OPTION_DROPPED && option.bytes == 8)
			reader->interface[interface].dropped = long_at(reader, option.value);
		else if (option.code == PCAPNG_OPTION_RECEIVED && option.bytes == 8)
			reader->interface[interface].received = long_at(reader, option.value);
	return 0;
}

/* Returns nanoseconds since 1970, or UINT64_MAX if out of range. */
static uint64_t time_of(uint64_t ticks, uint64_t ticks_per_s, int64_t offset_s)
{
	uint64_t seconds = ticks / ticks_per_s, rest = ticks % ticks_per_s;

	if (seconds > TIME_S_MAX)
		return UINT64_MAX;
	return (seconds + (uint64_t)offset_s) * NS_PER_S +
	       (uint64_t)((unsigned __int128)rest * NS_PER_S / ticks_per_s);
}

static int take_packet(struct capture_reader *reader, struct capture_packet *packet, size_t end,
	struct error *error)
{
	const struct capture_interface *interface;
	struct option_at option = {.next = reader->at + 28};
	uint64_t ticks;

	if (end < option.next)
		return damaged(reader, error, "a packet block is too short");
	*packet = (struct capture_packet){
		.number = ++reader->number,
		.interface = interface_of(reader, word_at(reader, reader->at + 8)),
		.captured_bytes = word_at(reader, reader->at + 20),
		.frame_bytes = word_at(reader, reader->at + 24),
		.bytes = reader->data + option.next,
	};
	if (packet->interface == UINT32_MAX)
		return damaged(reader, error, "a packet from an unknown interface");
	if (packet->captured_bytes > end - option.next ||
		packet->captured_bytes > packet->frame_bytes)
		return damaged(reader, error, "a packet is longer than its block or its frame");
	interface = &reader->interface[packet->interface];
	ticks = (uint64_t)word_at(reader, reader->at + 12) << 32 | word_at(reader, reader->at + 16);
	packet->time_ns = time_of(ticks, interface->ticks_per_s, interface->offset_s);
	if (packet->time_ns == UINT64_MAX)
		return damaged(reader, error, "the time of a packet is out of range");
	option.next += (packet->captured_bytes + 3u) & ~3u;
	if (option.next > end)
		option.next = end;
	while (next_option(reader, &option, end)) {
		if (option.code == PCAPNG_OPTION_COMMENT && packet->comment == NULL) {
			packet->comment = (const char *)reader->data + option.value;
			packet->comment_bytes = option.bytes;
		} else if (option.code == PCAPNG_OPTION_FLAGS && option.bytes == 4) {
			packet->direction = word_at(reader, option.value) & 3;
			if (packet->direction > CAPTURE_OUT)
				packet->direction = CAPTURE_BOTH;
		}
	}
	return 1;
}

/* Starts a section. Sets 'swapped' if its byte order differs from this machine's. */
static int begin_section(struct capture_reader *reader, struct error *error)
{
	uint32_t magic;

	if (reader->bytes - reader->at < PCAPNG_BLOCK_MIN + 4)
		return damaged(reader, error, "the file ends inside a section header");
	memcpy(&magic, reader->data + reader->at + 8, sizeof(magic));
	reader->swapped = magic == __builtin_bswap32(PCAPNG_ORDER_MAGIC);
	if (!reader->swapped && magic != PCAPNG_ORDER_MAGIC)
		return damaged(reader, error, "a section has no valid byte order");
	reader->section = reader->seen;
	return 0;
}

/* Reads one pcapng block. Returns 1 for a packet, 0 for any other block, or a negative error. */
static int take_block(
	struct capture_reader *reader, struct capture_packet *packet, struct error *error)
{
	size_t left = reader->bytes - reader->at, end;
	uint32_t type, length;
	int result = 0;

	if (left < PCAPNG_BLOCK_MIN)
		return damaged(reader, error,
			"the file ends inside a block, so the capture is "
			"incomplete");
	memcpy(&type, reader->data + reader->at, sizeof(type));
	if (type == PCAPNG_BLOCK_SECTION && (result = begin_section(reader, error)) < 0)
		return result;
	type = word_at(reader, reader->at);
	length = word_at(reader, reader->at + 4);
	if (length < PCAPNG_BLOCK_MIN || length % 4 != 0)
		return damaged(reader, error, "a block has an invalid length");
	if (length > left)
		return damaged(reader, error,
			"the file ends inside a block, so the capture is "
			"incomplete");
	if (word_at(reader, reader->at + length - 4) != length)
		return damaged(reader, error, "a block has two different lengths");
	end = reader->at + length - 4;
	if (type == PCAPNG_BLOCK_INTERFACE)
		result = add_interface(reader, end, error);
	else if (type == PCAPNG_BLOCK_COUNTS)
		result = add_counts(reader, end, error);
	else if (type == PCAPNG_BLOCK_PACKET)
		result = take_packet(reader, packet, end, error);
	else if (type == PCAPNG_BLOCK_SIMPLE)
		result = damaged(reader, error, "a packet has no time");
	if (result >= 0)
		reader->at += length;
	return result;
}

static int take_record(
	struct capture_reader *reader, struct capture_packet *packet, struct error *error)
{
	size_t left = reader->bytes - reader->at;
	uint64_t fraction;

	if (left < PCAP_RECORD)
		return damaged(reader, error,
			"the file ends inside a packet, so the capture is incomplete");
	fraction = word_at(reader, reader->at + 4);
	*packet = (struct capture_packet){
		.number = ++reader->number,
		.captured_bytes = word_at(reader, reader->at + 8),
		.frame_bytes = word_at(reader, reader->at + 12),
		.bytes = reader->data + reader->at + PCAP_RECORD,
		.time_ns = word_at(reader, reader->at) * (uint64_t)NS_PER_S +
			   (reader->nanoseconds ? fraction : fraction * 1000),
	};
	if (packet->captured_bytes > left - PCAP_RECORD)
		return damaged(reader, error,
			"the file ends inside a packet, so the capture is incomplete");
	if (packet->captured_bytes > packet->frame_bytes || packet->time_ns / NS_PER_S > TIME_S_MAX)
		return damaged(reader, error, "a packet has an invalid length or time");
	reader->at += PCAP_RECORD + packet->captured_bytes;
	return 1;
}

void capture_reader_rewind(struct capture_reader *reader)
{
	reader->at = reader->pcap ? PCAP_HEADER : 0;
	reader->number = 0;
	reader->section = 0;
	reader->seen = reader->pcap ? 1 : 0;
}

static int begin_pcap(struct capture_reader *reader, struct error *error)
{
	uint32_t magic = word_at(reader, 0);

	reader->swapped =
		magic == __builtin_bswap32(PCAP_US) || magic == __builtin_bswap32(PCAP_NS);
	magic = word_at(reader, 0);
	if (magic != PCAP_US && magic != PCAP_NS)
		return error_set(error, EINVAL,
			"%s: not a capture; use a pcapng or pcap file from 'weft run --pcap', "
			"'weft lab capture' or tcpdump",
			reader->path);
	reader->pcap = true;
	reader->nanoseconds = magic == PCAP_NS;
	if (reader->bytes < PCAP_HEADER)
		return damaged(reader, error, "the file ends inside its header");
	if ((word_at(reader, 20) & 0xFFFF) != ETHERNET)
		return error_set(error, EINVAL,
			"%s: the link type is %u, but must be Ethernet "
			"(1)",
			reader->path, word_at(reader, 20) & 0xFFFF);
	if (!array_reserve(&reader->interface, &reader->room, 1, sizeof(*reader->interface)))
		return error_set(error, ENOMEM, "%s: out of memory", reader->path);
	reader->interface[0] = (struct capture_interface){
		.ticks_per_s = NS_PER_S, .first_ns = UINT64_MAX, .received = UINT64_MAX};
	reader->interfaces = 1;
	return 0;
}

static int take(struct capture_reader *reader, struct capture_packet *packet, struct error *error)
{
	return reader->pcap ? take_record(reader, packet, error)
			    : take_block(reader, packet, error);
}

/* Reads the whole file once, to validate it and to collect its counts and times. */
static int check_all(struct capture_reader *reader, struct error *error)
{
	uint64_t newest = 0;
	int result = 0;

	reader->first_ns = reader->ended_ns = UINT64_MAX;
	while (reader->at < reader->bytes && result >= 0) {
		struct capture_packet packet;
		uint32_t before = reader->interfaces;
		size_t at = reader->at;

		result = take(reader, &packet, error);
		if (reader->interfaces > before)
			reader->complete_ns = newest;
		if (result == 0 && reader->ended_ns == UINT64_MAX &&
			word_at(reader, at) == PCAPNG_BLOCK_COUNTS)
			reader->ended_ns = newest;
		if (result != 1)
			continue;
		reader->packets++;
		reader->interface[packet.interface].packets++;
		if (packet.time_ns < reader->interface[packet.interface].first_ns)
			reader->interface[packet.interface].first_ns = packet.time_ns;
		if (packet.time_ns < reader->first_ns)
			reader->first_ns = packet.time_ns;
		if (packet.time_ns > newest)
			newest = packet.time_ns;
		if (newest - packet.time_ns > reader->disorder_ns)
			reader->disorder_ns = newest - packet.time_ns;
	}
	if (reader->ended_ns == UINT64_MAX)
		reader->ended_ns = newest;
	for (uint32_t i = 0; i < reader->interfaces; i++)
		if (reader->interface[i].first_ns != UINT64_MAX &&
			reader->interface[i].first_ns > reader->complete_ns)
			reader->complete_ns = reader->interface[i].first_ns;
	return result < 0 ? result : 0;
}

int capture_reader_open(struct capture_reader *reader, const char *path, const uint8_t *data,
	size_t bytes, struct error *error)
{
	uint32_t magic = 0;
	int result = 0;

	*reader = (struct capture_reader){.path = path, .data = data, .bytes = bytes};
	if (bytes < sizeof(magic))
		return error_set(error, EINVAL, "%s: not a capture: the file has only %zu bytes",
			path, bytes);
	memcpy(&magic, data, sizeof(magic));
	if (magic != PCAPNG_BLOCK_SECTION)
		result = begin_pcap(reader, error);
	capture_reader_rewind(reader);
	if (result == 0)
		result = check_all(reader, error);
	if (result < 0)
		capture_reader_close(reader);
	capture_reader_rewind(reader);
	return result;
}

void capture_reader_close(struct capture_reader *reader)
{
	free(reader->interface);
	reader->interface = NULL;
	reader->interfaces = reader->room = 0;
}

bool capture_reader_next(struct capture_reader *reader, struct capture_packet *packet)
{
	while (reader->at < reader->bytes) {
		int result = take(reader, packet, NULL);

		if (result != 0)
			return result > 0;
	}
	return false;
}
