/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pcapng_merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arrays.h"
#include "capture/pcapng.h"
#include "lab/lab_lock.h"
#include "wire/pcapng_format.h"

#define BLOCK_MAX  (1u << 20) /* exceeds any frame with its comment */
#define OPTIONS_AT 16u        /* in an interface block */
#define FILTER_MAX 500u
#define NUMBER_AT  8u /* offset of the interface number in packets and statistics */

static uint32_t word_at(const uint8_t *block, size_t at)
{
	uint32_t word;

	memcpy(&word, block + at, sizeof(word));
	return word;
}

static int write_block(struct pcapng_merge *merge, const uint8_t *block, uint32_t bytes)
{
	return merge->write(merge->ctx, block, bytes) ? 0 : -EIO;
}

/* Writes an interface block with if_filter added before its other options. */
static int write_interface(struct pcapng_merge *merge, const struct pcapng_merge_stream *stream,
	const uint8_t *block, uint32_t bytes)
{
	size_t text = strnlen(stream->filter, FILTER_MAX);
	uint32_t option = (uint32_t)(4 + ((1 + text + 3) & ~(size_t)3)), whole = bytes + option;
	uint16_t head[2] = {PCAPNG_OPTION_FILTER, (uint16_t)(1 + text)};
	uint8_t *copy = calloc(1, whole);
	int result;

	if (copy == NULL)
		return -ENOMEM;
	memcpy(copy, block, OPTIONS_AT);
	memcpy(copy + 4, &whole, sizeof(whole));
	memcpy(copy + OPTIONS_AT, head, sizeof(head));
	memcpy(copy + OPTIONS_AT + 5, stream->filter, text); /* after 0: a text */
	memcpy(copy + OPTIONS_AT + option, block + OPTIONS_AT, bytes - OPTIONS_AT);
	memcpy(copy + whole - 4, &whole, sizeof(whole));
	result = write_block(merge, copy, whole);
	free(copy);
	return result;
}

static int add_interface(struct pcapng_merge_stream *stream, uint32_t number)
{
	uint32_t *more;

	if (stream->interfaces == PCAPNG_MERGE_INTERFACES)
		return -EPROTO;
	more = realloc(stream->interface, (stream->interfaces + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	stream->interface = more;
	more[stream->interfaces++] = number;
	return 0;
}

/* Writes one complete block, with the number of its interface in the merged stream. */
static int pass_block(struct pcapng_merge *merge, struct pcapng_merge_stream *stream,
	uint8_t *block, uint32_t bytes)
{
	uint32_t type = word_at(block, 0), number;

	if (type == PCAPNG_BLOCK_SECTION) {
		if (bytes < PCAPNG_BLOCK_MIN + 4 || word_at(block, NUMBER_AT) != PCAPNG_ORDER_MAGIC)
			return -EPROTO;
		if (merge->begun)
			return 0;
		merge->begun = true;
		return write_block(merge, block, bytes);
	}
	if (type == PCAPNG_BLOCK_INTERFACE) {
		int result = add_interface(stream, merge->interfaces++);

		if (result < 0)
			return result;
		if (merge->begun && stream->filter != NULL && bytes > OPTIONS_AT)
			return write_interface(merge, stream, block, bytes);
	}
	if (type == PCAPNG_BLOCK_PACKET || type == PCAPNG_BLOCK_COUNTS) {
		number = bytes >= PCAPNG_BLOCK_MIN + 4 ? word_at(block, NUMBER_AT) : UINT32_MAX;
		if (number >= stream->interfaces)
			return -EPROTO;
		memcpy(block + NUMBER_AT, &stream->interface[number], sizeof(number));
	}
	return merge->begun ? write_block(merge, block, bytes) : -EPROTO;
}

static int append(struct pcapng_merge_stream *stream, const void *bytes, size_t count)
{
	if (stream->used + count > stream->room) {
		size_t room = 2 * (stream->used + count);
		uint8_t *grown = realloc(stream->bytes, room);

		if (grown == NULL)
			return -ENOMEM;
		stream->bytes = grown;
		stream->room = room;
	}
	memcpy(stream->bytes + stream->used, bytes, count);
	stream->used += count;
	return 0;
}

int pcapng_merge_add(struct pcapng_merge *merge, struct pcapng_merge_stream *stream,
	const void *bytes, size_t count)
{
	int result = append(stream, bytes, count);
	size_t done = 0;

	while (result == 0 && stream->used - done >= PCAPNG_BLOCK_MIN) {
		uint32_t block = word_at(stream->bytes + done, 4);

		if (block < PCAPNG_BLOCK_MIN || block > BLOCK_MAX || block % 4 != 0)
			return -EPROTO;
		if (stream->used - done < block)
			break;
		result = pass_block(merge, stream, stream->bytes + done, block);
		done += block;
	}
	memmove(stream->bytes, stream->bytes + done, stream->used - done);
	stream->used -= done;
	return result;
}

void pcapng_merge_end(struct pcapng_merge_stream *stream)
{
	free(stream->bytes);
	free(stream->interface);
	*stream = (struct pcapng_merge_stream){.bytes = NULL};
}

#define INTERFACE_AT 8u  /* offset of the interface number in packets and statistics */
#define TIME_AT      12u /* offset in a packet block, upper half first */
#define COUNTS_BYTES 52u /* size of Weft's statistics blocks: frames received and dropped */
#define RECEIVED_AT  24u
#define DROPPED_AT   36u
#define ENDED        UINT64_MAX /* in 'counted': the last statistics were written */

static int open_file(struct capture_output *output, struct error *error)
{
	output->fd = capture_rotation_open(&output->rotation, 0);
	return output->fd < 0 ? error_set(error, -output->fd, "%s: %s", output->rotation.name,
					strerror(-output->fd))
			      : 0;
}

int capture_output_open(struct capture_output *output, const char *path,
	const struct capture_limits *limits, struct error *error)
{
	*output = (struct capture_output){
		.fd = STDOUT_FILENO, .path = "standard output", .rotation = {.limits = limits}};
	if (path != NULL && strcmp(path, "-") != 0) {
		output->path = output->rotation.path = path;
		return open_file(output, error);
	}
	if (capture_rotates(&output->rotation))
		return error_set(error, EINVAL, "--rotate: expected -o FILE");
	if (isatty(STDOUT_FILENO))
		return error_set(error, EINVAL,
			"standard output is a terminal; use -o FILE, or pipe into 'wireshark -k "
			"-i -'");
	return 0;
}

int capture_output_begin(struct capture_output *output, struct error *error)
{
	/* Only regular files can be truncated. */
	if (output->fd != STDOUT_FILENO && ftruncate(output->fd, 0) < 0 && errno != EINVAL)
		return error_set(error, errno, "%s: %s", output->rotation.name, strerror(errno));
	return 0;
}

static bool write_all(struct capture_output *output, const void *bytes, size_t count)
{
	output->rotation.bytes += count;
	while (count > 0) {
		ssize_t written = write(output->fd, bytes, count);

		if (written < 0 && errno == EINTR && !lab_interrupted())
			continue;
		if (written <= 0) {
			output->write_errno = written < 0 ? errno : EIO;
			return false;
		}
		bytes = (const char *)bytes + written;
		count -= (size_t)written;
	}
	return true;
}

static bool keep_head(struct capture_output *output, const void *block, size_t bytes)
{
	uint8_t *grown = realloc(output->head, output->head_bytes + bytes);

	if (grown == NULL) {
		output->write_errno = ENOMEM;
		return false;
	}
	output->head = grown;
	memcpy(output->head + output->head_bytes, block, bytes);
	output->head_bytes += bytes;
	return true;
}

static int write_part(void *output, const void *bytes, size_t count)
{
	return write_all(output, bytes, count) ? 0 : -EIO;
}

/* Omits dropped frames, which are known only when the last file ends. */
static bool write_counts(struct capture_output *output, uint64_t now_ns)
{
	struct pcapng pcapng = {.write = write_part, .ctx = output};

	for (uint32_t i = 0; i < output->interfaces; i++) {
		if (output->counted[i] == ENDED)
			continue;
		pcapng_write_counts(&pcapng, i, now_ns, output->counted[i], 0);
		output->counted[i] = 0;
	}
	return pcapng.failed == 0;
}

static bool next_file(struct capture_output *output, uint64_t now_ns)
{
	struct error error;

	if (!write_counts(output, now_ns))
		return false;
	if (close(output->fd) != 0) {
		output->write_errno = errno;
		return false;
	}
	if (open_file(output, &error) < 0 || ftruncate(output->fd, 0) < 0) {
		output->write_errno = errno;
		return false;
	}
	return write_all(output, output->head, output->head_bytes);
}

static bool write_packet(struct capture_output *output, const void *block, size_t bytes)
{
	uint32_t time[2], interface;
	uint64_t now_ns;

	if (capture_output_is_full(output))
		return true;
	memcpy(&interface, (const uint8_t *)block + INTERFACE_AT, sizeof(interface));
	memcpy(time, (const uint8_t *)block + TIME_AT, sizeof(time));
	now_ns = (uint64_t)time[0] << 32 | time[1];
	while (capture_rotation_is_due(&output->rotation, now_ns, bytes))
		if (!next_file(output, now_ns))
			return false;
	output->frames++;
	if (interface < output->interfaces)
		output->counted[interface]++;
	return write_all(output, block, bytes);
}

static bool count_interface(struct capture_output *output)
{
	if (!array_reserve(&output->counted, &output->room, output->interfaces + 1u,
		    sizeof(*output->counted))) {
		output->write_errno = ENOMEM;
		return false;
	}
	output->counted[output->interfaces++] = 0;
	return true;
}

/* Replaces the statistics at the end of an interface, which are totals over all files. */
static bool write_last_counts(struct capture_output *output, const uint8_t *block, size_t bytes)
{
	uint8_t own[COUNTS_BYTES];
	uint32_t interface;
	uint64_t dropped;

	if (bytes != sizeof(own))
		return write_all(output, block, bytes);
	memcpy(own, block, sizeof(own));
	memcpy(&interface, own + INTERFACE_AT, sizeof(interface));
	memcpy(&dropped, own + DROPPED_AT, sizeof(dropped));
	if (interface < output->interfaces) {
		dropped += output->counted[interface];
		memcpy(own + RECEIVED_AT, &dropped, sizeof(dropped));
		output->counted[interface] = ENDED;
	}
	return write_all(output, own, sizeof(own));
}

bool capture_output_write(void *ctx, const void *block, size_t bytes)
{
	struct capture_output *output = ctx;
	bool rotates = capture_rotates(&output->rotation);
	uint32_t type;

	memcpy(&type, block, sizeof(type));
	if (type == PCAPNG_BLOCK_PACKET)
		return bytes >= TIME_AT + 8 && write_packet(output, block, bytes);
	if (type == PCAPNG_BLOCK_COUNTS && rotates)
		return write_last_counts(output, block, bytes);
	if (type == PCAPNG_BLOCK_INTERFACE && rotates && !count_interface(output))
		return false;
	if ((type == PCAPNG_BLOCK_SECTION || type == PCAPNG_BLOCK_INTERFACE) && rotates &&
		!keep_head(output, block, bytes))
		return false;
	return write_all(output, block, bytes);
}

bool capture_output_is_full(const struct capture_output *output)
{
	return output->rotation.limits->frames > 0 &&
	       output->frames >= output->rotation.limits->frames;
}

int capture_output_close(struct capture_output *output, struct error *error)
{
	int fd = output->fd;

	free(output->head);
	free(output->counted);
	output->head = NULL;
	output->counted = NULL;
	output->fd = -1;
	if (fd <= STDOUT_FILENO || close(fd) == 0)
		return 0;
	return error_set(
		error, errno, "%s: cannot be written: %s", output->rotation.name, strerror(errno));
}
