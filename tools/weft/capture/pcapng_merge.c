/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pcapng_merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/pcapng_format.h"

#define BLOCK_MAX  (1u << 20) /* larger than a frame with its comment */
#define OPTIONS_AT 16u        /* in an interface block */
#define FILTER_MAX 500u
#define NUMBER_AT  8u /* offset of the interface's number, in packets and statistics */

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

/* Adds if_filter to an interface block, before its other options. */
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

/* Writes one complete block, with the number that its interface has in the joined stream. */
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
