/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A link's end with a key under frames of somebody without: whatever bytes come, nothing is read
 * beyond them, nothing is taken, and the link stays as it was. Now and then the true neighbour says
 * something, and the listener repeats what he has heard; that is taken once.
 *
 * libFuzzer sees both sides of comparisons, thus right tags, which nobody without the key does. So
 * the key is a hash of the whole input: one with the tag in it has another key.
 *
 * Input: records of a command, an argument, a length and that many bytes. */

#include <arpa/inet.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "link/link_seal.h"
#include "wire/control.h"
#include "wire/frame_check.h"

#define HEARD 8

struct heard {
	uint8_t frame[512];
	unsigned bytes;
};

struct bed {
	struct link_key key;
	struct link_end end[2];
	struct link_seal seal[2];
	struct heard heard[HEARD];
	unsigned next;
};

/* In memory of exactly its size. */
static bool offer(struct bed *bed, unsigned to, const uint8_t *frame, unsigned bytes)
{
	uint8_t *copy = malloc(bytes + (bytes == 0));
	const struct frame_header *header = frame_header_const(copy);
	struct control_hello hello;
	struct control_credit credit;
	bool taken = false;

	REQUIRE(copy != NULL);
	memcpy(copy, frame, bytes);
	if (frame_check(copy, bytes) == FRAME_FAULT_OK && link_seal_covers(header->kind))
		taken = link_seal_open(&bed->seal[to], &bed->end[to], copy, bytes);
	if (taken && header->kind == FRAME_HELLO &&
		control_hello_decode(&hello, copy + frame_payload_offset(header),
			ntohs(header->payload_bytes_be)))
		link_end_on_hello(&bed->end[to], &hello, 0);
	if (taken && header->kind == FRAME_CREDIT &&
		control_credit_decode(&credit, copy + frame_payload_offset(header),
			ntohs(header->payload_bytes_be)))
		link_end_on_credit(&bed->end[to], &credit, 0);
	free(copy);
	return taken;
}

/* The end 'from' sends a genuine frame to the other end, and the attacker keeps a copy. */
static bool say(struct bed *bed, unsigned from, enum frame_kind kind)
{
	struct heard *heard = &bed->heard[bed->next++ % HEARD];
	struct frame_fields fields = {
		.kind = kind, .source = FRAME_HOST_NONE, .destination = FRAME_HOST_NONE};
	uint8_t *payload = heard->frame + FRAME_HEADER_BYTES;
	struct control_hello hello;
	struct control_credit credit;

	if (kind == FRAME_HELLO) {
		link_end_fill_hello(&bed->end[from], &hello, 0);
		fields.payload_bytes = (uint16_t)control_hello_encode(&hello, payload);
	} else {
		link_end_fill_credit(&bed->end[from], &credit, 0);
		fields.payload_bytes = (uint16_t)control_credit_encode(&credit, payload);
	}
	frame_build(heard->frame, &fields);
	heard->bytes = link_seal_close(
		&bed->seal[from], &bed->end[from], heard->frame, sizeof(heard->frame));
	return offer(bed, 1 - from, heard->frame, heard->bytes);
}

static void begin(struct bed *bed)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct link_end_config config = {.device = i + 1,
			.vcs = 2,
			.vc_blocks = 16,
			.session = 5,
			.hello_ps = PS_PER_MS,
			.refresh_ps = PS_PER_MS};

		link_end_init(&bed->end[i], &config, 0);
		link_seal_init(&bed->seal[i], &bed->key, &bed->end[i]);
	}
	for (unsigned i = 0; i < 6; i++)
		say(bed, i % 2, FRAME_HELLO);
	REQUIRE(say(bed, 0, FRAME_CREDIT) && say(bed, 1, FRAME_CREDIT));
}

/* Forged: the checks that need no key are corrected. */
static void forge(struct bed *bed, unsigned argument, const uint8_t *data, unsigned bytes)
{
	uint8_t frame[FRAME_HEADER_BYTES + 256] = {0};
	struct frame_fields fields = {.kind = 1 + argument % (FRAME_KIND_COUNT - 1),
		.source = FRAME_HOST_NONE,
		.destination = FRAME_HOST_NONE};
	unsigned rest = bytes > 128 ? 128 : bytes;

	fields.payload_bytes = (uint16_t)(rest > 16 && (argument & 128) != 0 ? rest - 16 : rest);
	memcpy(frame + FRAME_HEADER_BYTES, data, rest);
	frame_build(frame, &fields);
	memcpy(frame + FRAME_HEADER_BYTES, data, rest);
	REQUIRE(!offer(bed, argument >> 4 & 1, frame, FRAME_HEADER_BYTES + rest));
}

static void do_record(
	struct bed *bed, unsigned command, unsigned argument, const uint8_t *data, unsigned bytes)
{
	struct heard *heard = &bed->heard[argument % HEARD];

	switch (command % 4) {
	case 0:
		REQUIRE(say(bed, argument & 1, argument & 2 ? FRAME_HELLO : FRAME_CREDIT));
		break;
	case 1:
		REQUIRE(!offer(bed, argument >> 4 & 1, heard->frame, heard->bytes));
		break;
	case 2:
		REQUIRE(!offer(bed, argument & 1, data, bytes));
		break;
	default:
		forge(bed, argument, data, bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bed bed;
	uint32_t session[2];
	size_t at = 0;

	memset(&bed, 0, sizeof(bed));
	crypto_generichash(bed.key.bytes, sizeof(bed.key.bytes), data, size, NULL, 0);
	begin(&bed);
	session[0] = bed.end[0].peer_session;
	session[1] = bed.end[1].peer_session;
	while (at + 3 <= size) {
		unsigned bytes = data[at + 2];

		if (bytes > size - at - 3)
			bytes = (unsigned)(size - at - 3);
		do_record(&bed, data[at], data[at + 1], data + at + 3, bytes);
		at += 3 + bytes;
	}
	for (unsigned i = 0; i < 2; i++) {
		REQUIRE(bed.end[i].state == LINK_UP && bed.end[i].peer_session == session[i]);
		REQUIRE(credit_available(&bed.end[i].tx[0]) == 16);
	}
	return 0;
}
