/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Walks over the blocks of a pcapng file in memory and checks their framing. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { WALK_SECTION = 0x0A0D0D0A, WALK_INTERFACE = 1, WALK_COUNTS = 5, WALK_PACKET = 6 };

struct walk {
	const uint8_t *at;
	size_t left;
};

struct walk_block {
	uint32_t type, body_bytes;
	const uint8_t *body;
};

static inline uint32_t walk_u32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Returns false at the end. A block with broken framing fails the test. */
static inline bool walk_next(struct walk *walk, struct walk_block *block)
{
	uint32_t total;

	if (walk->left == 0)
		return false;
	assert_true(walk->left >= 12);
	total = walk_u32(walk->at + 4);
	assert_true(total >= 12 && total % 4 == 0 && total <= walk->left);
	assert_int_equal(walk_u32(walk->at + total - 4), total);
	*block = (struct walk_block){walk_u32(walk->at), total - 12, walk->at + 8};
	walk->at += total;
	walk->left -= total;
	return true;
}

/* Returns the first option 'code' from 'offset' of the body; NULL if there is none. */
static inline const uint8_t *walk_option(
	const struct walk_block *block, uint32_t offset, uint16_t code, uint16_t *bytes)
{
	while (offset + 4 <= block->body_bytes) {
		uint16_t head[2];

		memcpy(head, block->body + offset, sizeof(head));
		*bytes = head[1];
		if (head[0] == code)
			return block->body + offset + 4;
		if (head[0] == 0)
			return NULL;
		offset += 4 + (head[1] + 3u) / 4 * 4;
	}
	return NULL;
}

/* Offset of the options in a packet block's body. */
static inline uint32_t walk_packet_options(const struct walk_block *block)
{
	return 20 + (walk_u32(block->body + 12) + 3) / 4 * 4;
}
