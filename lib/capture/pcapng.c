/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pcapng.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "wire/pcapng_format.h"

#define TSRESOL_NS 9

/* Options of one block, in file format. */
struct options {
	uint8_t bytes[2 * PCAPNG_COMMENT_MAX + 64];
	uint32_t used;
};

static uint32_t padded(uint32_t bytes)
{
	return (bytes + 3) & ~3u;
}

static void option_add(struct options *options, uint16_t code, const void *value, uint16_t bytes)
{
	uint8_t *at = options->bytes + options->used;

	memcpy(at, &code, sizeof(code));
	memcpy(at + 2, &bytes, sizeof(bytes));
	memset(at + 4, 0, padded(bytes));
	memcpy(at + 4, value, bytes);
	options->used += 4 + padded(bytes);
}

static void option_add_text(struct options *options, uint16_t code, const char *text)
{
	size_t bytes = strnlen(text, PCAPNG_COMMENT_MAX);

	/* Truncates, but not inside a multi-byte character. */
	if (text[bytes] != '\0')
		while (bytes > 0 && ((uint8_t)text[bytes] & 0xC0) == 0x80)
			bytes--;
	option_add(options, code, text, (uint16_t)bytes);
}

static void option_end(struct options *options)
{
	memset(options->bytes + options->used, 0, 4);
	options->used += 4;
}

static void emit(struct pcapng *pcapng, const void *bytes, size_t count)
{
	if (pcapng->failed == 0 && count > 0)
		pcapng->failed = pcapng->write(pcapng->ctx, bytes, count);
}

/* Writes a block: type, length, fixed part, padded packet data (if any), options, length. */
static int emit_block(struct pcapng *pcapng, uint32_t type, const void *fixed, uint32_t fixed_bytes,
	const void *data, uint32_t data_bytes, const struct options *options)
{
	static const uint8_t zero[4];
	uint32_t total = 12 + fixed_bytes + padded(data_bytes) + options->used;
	const uint32_t head[2] = {type, total};

	emit(pcapng, head, sizeof(head));
	emit(pcapng, fixed, fixed_bytes);
	emit(pcapng, data, data_bytes);
	emit(pcapng, zero, padded(data_bytes) - data_bytes);
	emit(pcapng, options->bytes, options->used);
	emit(pcapng, &total, sizeof(total));
	return pcapng->failed;
}

int pcapng_write_stdio(void *file, const void *bytes, size_t count)
{
	errno = 0;
	if (fwrite(bytes, 1, count, file) == count)
		return 0;
	return errno != 0 ? -errno : -EIO;
}

int pcapng_begin(struct pcapng *pcapng, pcapng_write_fn *write, void *ctx, const char *application)
{
	const struct {
		uint32_t magic;
		uint16_t major, minor;
		int64_t section_bytes; /* -1: extends to the end of the file */
	} fixed = {PCAPNG_ORDER_MAGIC, 1, 0, -1};
	struct options options;

	options.used = 0;
	*pcapng = (struct pcapng){.write = write, .ctx = ctx, .linktype = PCAPNG_ETHERNET};
	option_add_text(&options, PCAPNG_OPTION_APPLICATION, application);
	option_end(&options);
	return emit_block(pcapng, PCAPNG_BLOCK_SECTION, &fixed, sizeof(fixed), NULL, 0, &options);
}

int pcapng_add_interface(
	struct pcapng *pcapng, const char *name, uint32_t snap_bytes, uint64_t rate_bps)
{
	const struct {
		uint16_t linktype, reserved;
		uint32_t snap_bytes;
	} fixed = {pcapng->linktype, 0, snap_bytes};
	const uint8_t resolution = TSRESOL_NS;
	struct options options;
	char filter[PCAPNG_COMMENT_MAX];
	int result;

	options.used = 0;

	option_add_text(&options, PCAPNG_OPTION_NAME, name);
	if (rate_bps != 0)
		option_add(&options, PCAPNG_OPTION_SPEED, &rate_bps, sizeof(rate_bps));
	option_add(&options, PCAPNG_OPTION_RESOLUTION, &resolution, sizeof(resolution));
	if (pcapng->filter != NULL) {
		filter[0] = 0;
		snprintf(filter + 1, sizeof(filter) - 1, "%s", pcapng->filter);
		option_add(
			&options, PCAPNG_OPTION_FILTER, filter, (uint16_t)(1 + strlen(filter + 1)));
	}
	option_end(&options);
	result = emit_block(
		pcapng, PCAPNG_BLOCK_INTERFACE, &fixed, sizeof(fixed), NULL, 0, &options);
	return result < 0 ? result : (int)pcapng->interfaces++;
}

size_t pcapng_packet_bytes(const struct pcapng_packet *packet)
{
	return 60 + packet->captured_bytes +
	       (packet->comment != NULL ? strlen(packet->comment) : 0);
}

int pcapng_write_packet(struct pcapng *pcapng, const struct pcapng_packet *packet)
{
	const uint32_t fixed[5] = {packet->interface, (uint32_t)(packet->time_ns >> 32),
		(uint32_t)packet->time_ns, packet->captured_bytes, packet->frame_bytes};
	const uint32_t flags = packet->direction;
	struct options options;

	options.used = 0;
	if (packet->comment != NULL && packet->comment[0] != '\0')
		option_add_text(&options, PCAPNG_OPTION_COMMENT, packet->comment);
	if (packet->direction != PCAPNG_UNKNOWN)
		option_add(&options, PCAPNG_OPTION_FLAGS, &flags, sizeof(flags));
	if (options.used > 0)
		option_end(&options);
	return emit_block(pcapng, PCAPNG_BLOCK_PACKET, fixed, sizeof(fixed), packet->bytes,
		packet->captured_bytes, &options);
}

int pcapng_write_counts(struct pcapng *pcapng, uint32_t interface, uint64_t time_ns,
	uint64_t received, uint64_t dropped)
{
	const uint32_t fixed[3] = {interface, (uint32_t)(time_ns >> 32), (uint32_t)time_ns};
	struct options options;

	options.used = 0;
	option_add(&options, PCAPNG_OPTION_RECEIVED, &received, sizeof(received));
	option_add(&options, PCAPNG_OPTION_DROPPED, &dropped, sizeof(dropped));
	option_end(&options);
	return emit_block(pcapng, PCAPNG_BLOCK_COUNTS, fixed, sizeof(fixed), NULL, 0, &options);
}
