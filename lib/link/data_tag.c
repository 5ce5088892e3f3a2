/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "data_tag.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stddef.h>
#include <string.h>

_Static_assert(DATA_TAG_BYTES == crypto_shorthash_BYTES, "SipHash-2-4");

/* Number of bytes from the start of the fixed header to the mutable bytes. */
#define COVERED_BYTES offsetof(struct frame_header, vc)

/* Continues the purposes of link_seal.c. */
static const uint8_t purpose_payload = 4, purpose_rest = 5;

static void derive(const struct link_key *from, uint8_t purpose, uint8_t *out)
{
	crypto_generichash(out, LINK_SEAL_PAIR_KEY_BYTES, &purpose, sizeof(purpose), from->bytes,
		sizeof(from->bytes));
}

void data_tag_derive(struct data_tag_key *key, const struct link_key *from)
{
	derive(from, purpose_payload, key->payload);
	derive(from, purpose_rest, key->rest);
}

static void make_tag(const struct data_tag_key *key, uint32_t session, const uint8_t *frame,
	uint8_t tag[DATA_TAG_BYTES])
{
	const struct frame_header *header = frame_header_const(frame);
	uint8_t rest[COVERED_BYTES + 1 + 4 + crypto_shorthash_BYTES];
	uint32_t session_be = htonl(session);

	memcpy(rest, header, COVERED_BYTES);
	rest[COVERED_BYTES] = header->flags & FRAME_F_TAIL;
	memcpy(rest + COVERED_BYTES + 1, &session_be, 4);
	crypto_shorthash(rest + COVERED_BYTES + 5, frame + frame_payload_offset(header),
		ntohs(header->payload_bytes_be), key->payload);
	crypto_shorthash(tag, rest, sizeof(rest), key->rest);
}

void data_tag_write(const struct data_tag_key *key, uint32_t session, uint8_t *frame)
{
	make_tag(key, session, frame, frame + frame_payload_end(frame));
}

bool data_tag_matches(
	const struct data_tag_key *key, uint32_t session, const uint8_t *frame, unsigned bytes)
{
	unsigned at = frame_payload_end(frame);
	uint8_t right[DATA_TAG_BYTES];

	if (bytes < at + DATA_TAG_BYTES)
		return false;
	make_tag(key, session, frame, right);
	return sodium_memcmp(right, frame + at, DATA_TAG_BYTES) == 0;
}
