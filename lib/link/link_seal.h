/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Seals of a link's control frames: 16 bytes after the payload, a counter and a tag computed with
 * SipHash-2-4 (docs/reference/wire-format.md, 'Seals'). Without the fabric's key, an attacker can
 * neither forge such a frame nor replay a recorded one. Credit, hello, arn, ack, cn, flow and clock
 * frames are sealed. Data frames are not; scout and mapper frames have tags of their own
 * (lib/mapper/mapper_frame.h).
 *
 * A seal covers one hop: each device checks and removes it, then seals the frame again for the next
 * link. Two counters and two keys per link therefore suffice for all kinds of frames. End-to-end
 * seals would need two of each per pair of hosts without better protection: all devices share one
 * key, and the switches' source check stops a host from using another host's number.
 *
 * Each direction of a pair of sessions has its own key, derived from the sender's identity and port
 * and from both sessions. Frames of other sessions, other links or the opposite direction therefore
 * have wrong tags. Within a pair of sessions, the counter rises with each frame. Hellos, which
 * establish the sessions, have a separate key; link_end.h ('proving') explains how old hellos are
 * recognised.
 *
 * No clock, no allocation, no log. Only the thread of the link's end calls these functions. */

#include <stdbool.h>
#include <stdint.h>

#include "base/replay_window.h"
#include "link_end.h"
#include "wire/frame.h"

#define LINK_KEY_BYTES  32
#define LINK_SEAL_BYTES 16

/* The key of all links of a fabric, derived from the fabric key. */
struct link_key {
	uint8_t bytes[LINK_KEY_BYTES];
};

#define LINK_SEAL_PAIR_KEY_BYTES 16

/* Refused frames. */
struct link_seal_counters {
	uint64_t bad_tag;  /* missing or wrong seal */
	uint64_t replayed; /* seen before, or too old to check */
	uint64_t unproven; /* from sessions that have not been adopted */
};

struct link_seal {
	const struct link_key *key; /* owned by the caller; NULL: frames have no seals */
	uint64_t sent;              /* counter in the last frame sent */
	/* Sessions of the current keys; 0: none yet. */
	uint32_t session, peer_session;
	uint8_t send_key[LINK_SEAL_PAIR_KEY_BYTES], receive_key[LINK_SEAL_PAIR_KEY_BYTES];
	uint8_t hello_key[LINK_SEAL_PAIR_KEY_BYTES];
	struct replay_window seen;
	struct link_seal_counters count;
};

/* Enables seals for the frames of 'end'. Call before the end's first frame, and after
 * sodium_init(). Assigns the end a session that no other end has, and makes it proving. 'key' must
 * outlive the seal. */
void link_seal_init(struct link_seal *seal, const struct link_key *key, struct link_end *end);

/* Returns true if frames of this kind are sealed when there is a key. */
static inline bool link_seal_covers(unsigned kind)
{
	const unsigned covered = 1u << FRAME_CREDIT | 1u << FRAME_ARN | 1u << FRAME_ACK |
				 1u << FRAME_CN | 1u << FRAME_HELLO | 1u << FRAME_FLOW |
				 1u << FRAME_CLOCK;

	return kind < 32 && (covered >> kind & 1) != 0;
}

/* Appends the seal to a finished frame of a sealed kind. 'room' is the size of the buffer 'frame',
 * FRAME_BYTES_MIN or more. Returns the total length, or 0 if the seal does not fit; the frame is
 * then unchanged. */
unsigned link_seal_close(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned room);

/* Checks a frame of a sealed kind that has passed frame_check(). If the seal is genuine and new,
 * removes it and returns the remaining length. Otherwise, counts the frame and returns 0. Until the
 * first session is adopted, an unproven hello also passes; link_end_on_hello() only records its
 * session. */
unsigned link_seal_open(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned bytes);

/* Tags of data frames from host to host (docs/reference/wire-format.md, 'Data tags'): 8 bytes after
 * the payload, computed with SipHash-2-4, as in link seals. Without the fabric's key, an attacker
 * can neither forge nor change data, even after reading other frames.
 *
 * A tag covers the fields that the sending host sets: the fixed header up to the mutable bytes, the
 * flag of a message's last frame, the payload, and the receiver's session, which data frames do not
 * carry. A frame recorded before the receiver restarted therefore has a wrong tag. Within a
 * session, flows and sequence numbers identify new frames. The tag does not cover the route or the
 * marks set by switches.
 *
 * Two nested hashes are used, because header and payload are not adjacent.
 *
 * This is Weft's own addition, not from a paper. No clock, no allocation, no log; any thread. */

#define DATA_TAG_BYTES FRAME_DATA_TAG_BYTES

struct data_tag_key {
	uint8_t payload[LINK_SEAL_PAIR_KEY_BYTES], rest[LINK_SEAL_PAIR_KEY_BYTES];
};

/* Derives the key, which is the same for all hosts of a fabric. Call sodium_init() first. */
void data_tag_derive(struct data_tag_key *key, const struct link_key *from);

/* Appends the tag to a finished frame for a receiver in 'session'. 'frame' must have room for
 * DATA_TAG_BYTES after the payload. */
void data_tag_write(const struct data_tag_key *key, uint32_t session, uint8_t *frame);

/* Returns true if a data frame of 'bytes' bytes, which has passed frame_check(), has the correct
 * tag for 'session'. The comparison takes constant time. */
bool data_tag_matches(
	const struct data_tag_key *key, uint32_t session, const uint8_t *frame, unsigned bytes);
