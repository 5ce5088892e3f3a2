/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Builds frames of mapper messages, with route, counter and tag, and opens them. With a key, an
 * opened message is authentic; the receiver must still check that it is new (replay_window.h) and
 * meant for this device's current session. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "wire/frame.h"
#include "wire/mapper_message.h"

/* The fabric key: 256 bits shared by all devices of a fabric. It authenticates the messages between
 * mapper and devices (keyed BLAKE2b of libsodium, 128-bit tags); nothing is encrypted. A device
 * with the key can be the mapper; a device without it cannot change anything. Keys for other
 * purposes, such as link seals (lib/link/link_seal.h), are derived from it.
 *
 * On disk, the key is a file of 64 hexadecimal digits that only its owner may read or write. */

#define FABRIC_KEY_BYTES 32
#define FABRIC_TAG_BYTES 16

struct fabric_key {
	uint8_t bytes[FABRIC_KEY_BYTES];
};

/* Reads a key file. Fails with -EACCES if others may read or write it or it belongs to another
 * user, with -EINVAL if it is not a regular file or not 64 hexadecimal digits with at most a
 * newline, or with the errno of open() or read(). 'key' is then unchanged. */
int fabric_key_load(struct fabric_key *key, const char *path, struct error *error);

/* Computes the tag of 'data'. */
void fabric_key_tag(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	uint8_t tag[FABRIC_TAG_BYTES]);
/* Compares the tag in constant time. */
bool fabric_key_matches(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	const uint8_t tag[FABRIC_TAG_BYTES]);

/* Derives a key for 'purpose', a single word. The derived key reveals nothing about 'key'. */
void fabric_key_derive(
	const struct fabric_key *key, const char *purpose, uint8_t out[FABRIC_KEY_BYTES]);

/* Returns the fabric number of this identity, never 0. All devices with this text and key have the
 * same number. 'key' may be NULL: the number then depends on the text alone. Two texts share a
 * number with a probability of 1 in 65,535. */
uint16_t fabric_number(const char *identity, const struct fabric_key *key);

/* Erases the key from memory. */
void fabric_key_wipe(struct fabric_key *key);

#define MAPPER_FRAME_MAX (FRAME_HEADER_BYTES + MAPPER_BACK_MAX + MAPPER_MESSAGE_MAX)

/* Reasons for refusing a message, each with a counter. */
#define MAPPER_REFUSALS(X)                                                                   \
	X(NONE, "none")                                                                      \
	X(FRAME, "frame")           /* not a valid scout or mapper frame */                  \
	X(MALFORMED, "malformed")   /* invalid payload */                                    \
	X(UNKEYED, "unkeyed")       /* no tag, although this device has a key */             \
	X(KEYED, "keyed")           /* a tag, although this device has no key */             \
	X(FORGED, "forged")         /* wrong tag */                                          \
	X(REPLAYED, "replayed")     /* seen before, or too old to check */                   \
	X(NOT_FOR_US, "not_for_us") /* for another device or a different kind of receiver */ \
	X(STALE, "stale")           /* from an earlier session, or not requested */          \
	X(LESSER, "lesser")         /* a higher mapper is followed */                        \
	X(NO_ROOM, "no_room")       /* sender table is full */

enum mapper_refusal {
#define X(name, text) MAPPER_REFUSED_##name,
	MAPPER_REFUSALS(X)
#undef X
		MAPPER_REFUSED_COUNT
};

/* Returns the reason's name, such as "forged". */
const char *mapper_refusal_name(enum mapper_refusal refusal);

/* A sender of messages: one per run of a device, and one for a mapper in it. */
struct mapper_speaker {
	const struct fabric_key *key; /* NULL: none */
	uint16_t fabric;              /* fabric number in its frames (frame.h) */
	uint64_t id;
	uint64_t counter; /* counter of the last message */
};

/* Port of frames between a mapper and the local agent, which never leave the device. No frame from
 * a cable may have this port. */
#define MAPPER_PORT_LOCAL 0xFF

/* A frame and its output port. */
struct mapper_frame {
	uint8_t port;
	unsigned bytes;
	uint8_t data[MAPPER_FRAME_MAX];
};

/* Sets sender, counter and tag of the message, and builds the frame with this route. */
void mapper_frame_build(struct mapper_speaker *speaker, struct mapper_message *message,
	const uint8_t *route, unsigned length, struct mapper_frame *frame);

/* Checks frame, payload CRC, format and tag, in this order. Returns MAPPER_REFUSED_NONE and the
 * message, whose table data points into the frame, or the reason for refusing it. */
enum mapper_refusal mapper_frame_open(const struct fabric_key *key, const uint8_t *data,
	unsigned bytes, struct mapper_message *message);
