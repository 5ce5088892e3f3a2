/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Seals of the control frames of a link: 16 bytes after the payload, a counter and a tag computed
 * with SipHash-2-4 (docs/reference/wire-format.md, 'Seals'). Without the fabric's key an attacker
 * can neither forge such a frame nor replay a recorded one. Credit, hello, arn, ack, cn and flow
 * frames have a seal; data has none, and scout and mapper frames have tags of their own
 * (lib/mapper/mapper_frame.h).
 *
 * A seal covers one hop: each device checks it, removes it and seals the frame again for the next
 * link. Two counters and two keys per link therefore suffice for all kinds of frames; end-to-end
 * seals would need two of each per pair of hosts, and would not protect better: all devices have
 * the same key, and the source check of the switches stops a host that sends under another host's
 * number.
 *
 * Each direction of a pair of sessions has its own key, derived from identity and port of the
 * sender and both sessions: frames of other sessions, other links and the other direction have
 * wrong tags. Within a pair of sessions the counter rises with each frame. Hellos, which agree on
 * the sessions, have a key of their own; link_end.h ('proving') explains how old ones are
 * recognised.
 *
 * No clock, no allocation, no log. Only the thread of the link's end calls this. */

#include <stdbool.h>
#include <stdint.h>

#include "base/replay_window.h"
#include "link_end.h"
#include "wire/frame.h"

#define LINK_KEY_BYTES  32
#define LINK_SEAL_BYTES 16

/* The key of all links of a fabric; derived from the fabric key. */
struct link_key {
	uint8_t bytes[LINK_KEY_BYTES];
};

#define LINK_SEAL_PAIR_KEY_BYTES 16

/* Frames that were refused. */
struct link_seal_counters {
	uint64_t bad_tag;  /* no seal, or a wrong one */
	uint64_t replayed; /* seen before, or too old to check */
	uint64_t unproven; /* frames from sessions that are not adopted */
};

struct link_seal {
	const struct link_key *key; /* owned by the caller; NULL: frames have no seals */
	uint64_t sent;              /* counter of the last frame */
	/* The sessions that the keys are for; 0: none yet. */
	uint32_t session, peer_session;
	uint8_t send_key[LINK_SEAL_PAIR_KEY_BYTES], receive_key[LINK_SEAL_PAIR_KEY_BYTES];
	uint8_t hello_key[LINK_SEAL_PAIR_KEY_BYTES];
	struct replay_window seen;
	struct link_seal_counters count;
};

/* From now on frames of 'end' get seals; call it before the end's first frame. Gives the end a
 * session that no other end has, and makes it proving. The caller keeps 'key' valid. Call
 * sodium_init() first. */
void link_seal_init(struct link_seal *seal, const struct link_key *key, struct link_end *end);

/* Whether frames of this kind have a seal if there is a key. */
static inline bool link_seal_covers(unsigned kind)
{
	const unsigned covered = 1u << FRAME_CREDIT | 1u << FRAME_ARN | 1u << FRAME_ACK |
				 1u << FRAME_CN | 1u << FRAME_HELLO | 1u << FRAME_FLOW |
				 1u << FRAME_CLOCK;

	return kind < 32 && (covered >> kind & 1) != 0;
}

/* Writes the seal of a finished frame of a kind that has one. 'frame' has 'room' bytes, at least
 * FRAME_BYTES_MIN of which are its own. Returns the total length; 0: there is no room for a seal,
 * and the frame is unchanged. */
unsigned link_seal_close(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned room);

/* Checks a frame of a kind that has a seal; it has passed frame_check(). If the seal is genuine and
 * new, removes it and returns the length without it. Otherwise counts the frame and returns 0.
 * Until the first session is adopted, a hello that proves nothing also passes; link_end_on_hello()
 * does not act on it. */
unsigned link_seal_open(
	struct link_seal *seal, const struct link_end *end, uint8_t *frame, unsigned bytes);

/* Tags of data frames, from host to host (docs/reference/wire-format.md, 'Data tags'): 8 bytes
 * after the payload, computed with SipHash-2-4, like the seals of links (link_seal.h). Without the
 * fabric's key an attacker can neither forge nor change data, even after reading other frames.
 *
 * A tag covers what the sending host decided: the fixed header up to the mutable bytes, the flag of
 * a message's last frame, the payload, and the receiver's session, which data frames do not carry.
 * A frame recorded before the receiver restarted therefore has a wrong tag. Within a session, flows
 * and sequence numbers identify new frames. The tag does not cover the route and the marks that
 * switches set.
 *
 * Two nested hashes are used, because header and payload are not adjacent.
 *
 * This is Weft's own addition, not from a paper. No clock, no allocation, no log; any thread. */

#define DATA_TAG_BYTES FRAME_DATA_TAG_BYTES

struct data_tag_key {
	uint8_t payload[LINK_SEAL_PAIR_KEY_BYTES], rest[LINK_SEAL_PAIR_KEY_BYTES];
};

/* The key is the same for all hosts of a fabric. Call sodium_init() first. */
void data_tag_derive(struct data_tag_key *key, const struct link_key *from);

/* Writes the tag of a finished frame for a receiver that is in this session. 'frame' has room for
 * DATA_TAG_BYTES after the payload. */
void data_tag_write(const struct data_tag_key *key, uint32_t session, uint8_t *frame);

/* True if a data frame of 'bytes' bytes, which has passed frame_check(), has the correct tag for
 * this session. Takes constant time. */
bool data_tag_matches(
	const struct data_tag_key *key, uint32_t session, const uint8_t *frame, unsigned bytes);
