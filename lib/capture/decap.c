/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "decap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "capture_filter.h"
#include "wire/frame.h"

#define PENDING 1024u /* packets being reassembled at a time */
#define PLACES  16u   /* slots in which a packet may be stored */

/* A packet of which some parts have arrived. */
struct pending {
	uint64_t message; /* source, destination, message number */
	uint32_t port;    /* interface and direction */
	uint32_t sequence, part_bytes, packet_bytes, missing;
	uint64_t *got;  /* one bit per part; 'bytes' follows in the same allocation */
	uint8_t *bytes; /* NULL: slot not used */
};

struct decap {
	struct pending pending[PENDING];
	uint64_t *last; /* allocation of the last completed packet */
	struct decap_counts counts;
};

struct decap *decap_create(void)
{
	return calloc(1, sizeof(struct decap));
}

void decap_destroy(struct decap *decap)
{
	for (unsigned i = 0; decap != NULL && i < PENDING; i++)
		free(decap->pending[i].got);
	if (decap != NULL)
		free(decap->last);
	free(decap);
}

static void give_up(struct decap *decap, struct pending *pending)
{
	decap->counts.incomplete += pending->bytes != NULL;
	free(pending->got);
	pending->got = NULL;
	pending->bytes = NULL;
}

static bool is_of(const struct pending *pending, const struct pending *other)
{
	return pending->bytes != NULL && pending->message == other->message &&
	       pending->port == other->port;
}

/* Returns the packet's slot, or one to use for it. */
static struct pending *place_of(struct decap *decap, const struct pending *packet)
{
	uint64_t hash = rng_mix(packet->message ^ rng_mix(packet->port));
	struct pending *empty = NULL, *at = NULL;

	for (unsigned i = 0; i < PLACES; i++) {
		at = &decap->pending[(hash + i) % PENDING];
		if (is_of(at, packet))
			return at;
		if (at->bytes == NULL && empty == NULL)
			empty = at;
	}
	return empty != NULL ? empty : at;
}

/* Starts a packet with its first frame. */
static int begin(struct decap *decap, struct pending *pending, const struct pending *as)
{
	uint32_t parts = (as->packet_bytes - 1) / as->part_bytes + 1, words = parts / 64 + 1;

	give_up(decap, pending);
	*pending = *as;
	pending->missing = parts;
	pending->got = calloc(1, words * sizeof(pending->got[0]) + as->packet_bytes);
	if (pending->got == NULL)
		return -ENOMEM;
	pending->bytes = (uint8_t *)(pending->got + words);
	return 0;
}

/* Returns true if this part completes the packet. */
static bool take_part(struct decap *decap, struct pending *pending, uint32_t sequence,
	const uint8_t *payload, uint32_t bytes)
{
	uint64_t part = sequence - pending->sequence, at = part * pending->part_bytes;
	uint32_t left;

	if (at >= pending->packet_bytes) {
		decap->counts.incomplete++;
		return false;
	}
	left = pending->packet_bytes - (uint32_t)at;
	if (bytes != (left < pending->part_bytes ? left : pending->part_bytes)) {
		decap->counts.incomplete++;
		return false;
	}
	if (pending->got[part / 64] >> part % 64 & 1)
		return false; /* a retransmission */
	pending->got[part / 64] |= UINT64_C(1) << part % 64;
	memcpy(pending->bytes + at, payload, bytes);
	return --pending->missing == 0;
}

/* Returns the packet without the header of a long segment. */
static void put_out(struct decap *decap, const uint8_t *message, uint32_t captured, uint32_t bytes,
	struct decap_packet *packet)
{
	uint32_t header = segment_header(message, captured);

	*packet = (struct decap_packet){message + header, captured - header, bytes - header};
	decap->counts.packets++;
}

static void complete(struct decap *decap, struct pending *pending, struct decap_packet *packet)
{
	free(decap->last);
	decap->last = pending->got;
	put_out(decap, pending->bytes, pending->packet_bytes, pending->packet_bytes, packet);
	pending->got = NULL;
	pending->bytes = NULL;
}

/* Returns the TAP payload, or NULL. Only completely captured frames are checked for damage. */
static const uint8_t *payload_of(const struct decap_frame *frame, uint32_t *bytes)
{
	if (frame->captured_bytes >= frame->frame_bytes &&
		(frame_check(frame->bytes, frame->captured_bytes) != FRAME_FAULT_OK ||
			!frame_payload_ok(frame->bytes)))
		return NULL;
	return tap_packet_payload(frame->bytes, frame->captured_bytes, bytes);
}

int decap_add(struct decap *decap, const struct decap_frame *frame, struct decap_packet *packet)
{
	const struct frame_header *header = frame_header_const(frame->bytes);
	uint32_t bytes, sent, packet_bytes;
	const uint8_t *payload = payload_of(frame, &bytes);
	struct pending *pending, now = {.port = frame->interface << 2 | frame->direction};

	decap->counts.frames++;
	if (payload == NULL) {
		decap->counts.other++;
		return 0;
	}
	sent = ntohs(header->payload_bytes_be);
	packet_bytes = tap_packet_bytes(payload, bytes);
	if (packet_bytes != 0 && packet_bytes <= sent) {
		put_out(decap, payload, bytes, packet_bytes, packet);
		return 1;
	}
	now.message = (uint64_t)ntohs(header->source_be) << 48 |
		      (uint64_t)ntohs(header->destination_be) << 32 | ntohl(header->message_be);
	now.sequence = ntohl(header->sequence_be);
	now.part_bytes = bytes;
	now.packet_bytes = packet_bytes;
	pending = place_of(decap, &now);
	if (bytes < sent) {
		decap->counts.incomplete++; /* truncated by the capture */
		return 0;
	}
	if (!is_of(pending, &now) || (packet_bytes != 0 && pending->sequence != now.sequence)) {
		if (packet_bytes == 0) {
			decap->counts.other++;
			return 0;
		}
		if (begin(decap, pending, &now) < 0)
			return -ENOMEM;
	}
	if (!take_part(decap, pending, now.sequence, payload, bytes))
		return 0;
	complete(decap, pending, packet);
	return 1;
}

struct decap_counts decap_end(struct decap *decap)
{
	for (unsigned i = 0; i < PENDING; i++)
		give_up(decap, &decap->pending[i]);
	return decap->counts;
}
