/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Mapper messages as whole frames: built with route, counter and tag, and opened again. What has
 * been opened is genuine, if there is a key; whether it is new (replay_window.h) and meant for this
 * life of this device, the receiver has to ask.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fabric_key.h"
#include "frame.h"
#include "mapper_message.h"

#define MAPPER_FRAME_MAX (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + MAPPER_MESSAGE_MAX)

/* Why a message was not obeyed; counters. */
#define MAPPER_REFUSALS(X)                                                         \
	X(NONE, "none")                                                            \
	X(FRAME, "frame")           /* no good frame of these kinds */             \
	X(MALFORMED, "malformed")   /* payload */                                  \
	X(UNKEYED, "unkeyed")       /* no tag, but this device has a key */        \
	X(KEYED, "keyed")           /* a tag, but this device has no key */        \
	X(FORGED, "forged")         /* the tag is wrong */                         \
	X(REPLAYED, "replayed")     /* seen before, or too old to tell */          \
	X(NOT_FOR_US, "not_for_us") /* another device's, or another sort's */      \
	X(STALE, "stale")           /* of a former life, or nobody asked for it */ \
	X(LESSER, "lesser")         /* a greater mapper is obeyed */               \
	X(NO_ROOM, "no_room")       /* more senders than are remembered */

enum mapper_refusal {
#define X(name, text) MAPPER_REFUSED_##name,
	MAPPER_REFUSALS(X)
#undef X
		MAPPER_REFUSED_COUNT
};

/* "forged", … */
const char *mapper_refusal_name(enum mapper_refusal refusal);

/* Who speaks. One for each life of a device and, beside it, one for a mapper in it. */
struct mapper_speaker {
	const struct fabric_key *key; /* NULL: none */
	uint64_t id;
	uint64_t counter; /* of the last message */
};

/* Between a mapper and the agent beside it: such a frame goes from one to the other and nowhere
 * else. No frame from a cable may be given this port. */
#define MAPPER_PORT_LOCAL 0xFF

/* A frame and the port by which it leaves. */
struct mapper_frame {
	uint8_t port;
	unsigned bytes;
	uint8_t data[MAPPER_FRAME_MAX];
};

/* Fills sender, counter and tag of the message, and builds the frame with this route. */
void mapper_frame_build(struct mapper_speaker *speaker, struct mapper_message *message,
	const uint8_t *route, unsigned length, struct mapper_frame *frame);

/* Checks frame, payload CRC, form and tag, in this order. MAPPER_REFUSED_NONE with the message,
 * whose table data points into the frame, or the reason. */
enum mapper_refusal mapper_frame_open(const struct fabric_key *key, const uint8_t *data,
	unsigned bytes, struct mapper_message *message);
