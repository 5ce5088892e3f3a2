/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Payloads of scout and mapper frames from the wire. Decoding reads nothing beyond them, keeps
 * its ranges, and accepts only what encoding writes. The first byte tells how many bytes are cut
 * off. */

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "wire/mapper_message.h"

static void require_good(const struct mapper_message *message, const uint8_t *in, unsigned bytes)
{
	uint8_t again[MAPPER_MESSAGE_MAX];
	unsigned length = mapper_message_encode(message, again);

	REQUIRE(length == bytes);
	REQUIRE(memcmp(again, in, bytes - MAPPER_TAG_BYTES) == 0);
	REQUIRE(message->type > 0 && message->type < MAPPER_TYPE_COUNT);
	if (mapper_type_is_command(message->type))
		REQUIRE(message->command.back[message->command.back_length - 1] ==
			ROUTE_TYPE_AGENT);
	if (message->type == MAPPER_TABLE) {
		REQUIRE(message->table.data >= in &&
			message->table.data + message->table.bytes <= in + bytes);
		REQUIRE(message->table.offset + message->table.bytes <= message->table.total);
	}
	if (message->type == MAPPER_IMAGE && message->image.bytes > 0)
		REQUIRE(message->image.data >= in &&
			message->image.data + message->image.bytes <= in + bytes);
}

/* In memory of exactly its size, so that a read beyond it is detected. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mapper_message message;
	unsigned bytes;
	uint8_t *copy;

	if (size < 1 || size > MAPPER_MESSAGE_MAX)
		return 0;
	bytes = (unsigned)size - 1;
	bytes -= data[0] < bytes ? data[0] : 0;
	copy = malloc(bytes + (bytes == 0));
	REQUIRE(copy != NULL);
	memcpy(copy, data + 1, bytes);
	if (mapper_message_decode(&message, copy, bytes))
		require_good(&message, copy, bytes);
	free(copy);
	return 0;
}
