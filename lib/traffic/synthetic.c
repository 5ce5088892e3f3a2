/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "synthetic.h"

#include <endian.h>
#include <string.h>

#include "base/rng.h"

#define STEP 0x9e3779b97f4a7c15u
/* Repeats the entry in each byte, so that no change of up to three bits goes undetected. */
#define ENTRY_BYTES 0x01010101u

struct prefix {
	uint64_t generated_ns_be;
	uint32_t message_bytes_be;
	uint32_t check_be;
};

_Static_assert(sizeof(struct prefix) == SYNTHETIC_PREFIX_BYTES, "as on the wire");

static uint64_t key_of(const struct synthetic *message)
{
	return (uint64_t)message->source << 48 | (uint64_t)message->destination << 32 |
	       message->message;
}

static uint32_t check_of(const struct synthetic *message, struct prefix prefix)
{
	return (uint32_t)rng_mix(
		key_of(message) + rng_mix(prefix.generated_ns_be + STEP) + prefix.message_bytes_be);
}

/* Returns the first word from 'offset' on. Frames are generated and checked separately. */
static uint64_t pattern_of(const struct synthetic *message, uint32_t offset)
{
	return rng_mix(key_of(message) + (uint64_t)offset * STEP);
}

static void fill_pattern(uint64_t word, uint8_t *out, uint32_t bytes)
{
	for (; bytes >= 8; bytes -= 8, out += 8, word += STEP)
		memcpy(out, &(uint64_t){htole64(word)}, 8);
	word = htole64(word);
	memcpy(out, &word, bytes);
}

static bool is_pattern(uint64_t word, const uint8_t *in, uint32_t bytes)
{
	uint64_t found, difference = 0;

	for (; bytes >= 8; bytes -= 8, in += 8, word += STEP) {
		memcpy(&found, in, 8);
		difference |= found ^ htole64(word);
	}
	word = htole64(word);
	return difference == 0 && memcmp(in, &word, bytes) == 0;
}

void synthetic_fill(const struct synthetic *message, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	struct prefix prefix = {.check_be = 0};

	if (offset == 0 && bytes >= sizeof(prefix)) {
		prefix.generated_ns_be = htobe64(message->generated_ns);
		prefix.message_bytes_be = htobe32(message->message_bytes);
		prefix.check_be = htobe32(check_of(message, prefix) ^ message->entry * ENTRY_BYTES);
		memcpy(out, &prefix, sizeof(prefix));
		out += sizeof(prefix);
		bytes -= (uint32_t)sizeof(prefix);
	}
	fill_pattern(pattern_of(message, offset), out, bytes);
}

bool synthetic_open(struct synthetic *message, const uint8_t *payload, uint32_t bytes)
{
	struct prefix prefix;
	uint32_t entry;

	if (bytes < sizeof(prefix))
		return false;
	memcpy(&prefix, payload, sizeof(prefix));
	entry = be32toh(prefix.check_be) ^ check_of(message, prefix);
	message->entry = (uint8_t)entry;
	if (entry != message->entry * ENTRY_BYTES)
		return false;
	message->generated_ns = be64toh(prefix.generated_ns_be);
	message->message_bytes = be32toh(prefix.message_bytes_be);
	return true;
}

bool synthetic_matches(
	const struct synthetic *message, uint32_t offset, const uint8_t *payload, uint32_t bytes)
{
	if (offset == 0 && bytes >= SYNTHETIC_PREFIX_BYTES) {
		payload += SYNTHETIC_PREFIX_BYTES;
		bytes -= SYNTHETIC_PREFIX_BYTES;
	}
	return is_pattern(pattern_of(message, offset), payload, bytes);
}
