/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Tags of data frames, from host to host (docs/reference/wire-format.md, 'Data tags'): 8 bytes
 * behind the payload, by SipHash-2-4, the primitive of the seals of links (link_seal.h). Without
 * the key of the fabric nobody can forge or change data, even after reading other frames.
 *
 * A tag covers what the sending host has decided: the fixed header up to the mutable bytes, of
 * these the mark of a message's last frame, the payload, and the session of the receiver, which is
 * in no frame of data. So a frame that was recorded in an earlier life of the receiver has a wrong
 * tag. Inside a life flows and sequence numbers tell what is new. The route and the marks that
 * switches make are not covered.
 *
 * Two hashes, that of the payload in that of the rest, because header and payload are not adjacent.
 *
 * Our choice; no paper has it. No clock, no allocation, no log; any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "link_seal.h"

#define DATA_TAG_BYTES FRAME_DATA_TAG_BYTES

struct data_tag_key {
	uint8_t payload[LINK_SEAL_PAIR_KEY_BYTES], rest[LINK_SEAL_PAIR_KEY_BYTES];
};

/* The same for all hosts of a fabric. sodium_init() was called. */
void data_tag_derive(struct data_tag_key *key, const struct link_key *from);

/* Writes the tag of a finished frame that the receiver of this session will check. 'frame' has room
 * for DATA_TAG_BYTES behind the payload. */
void data_tag_write(const struct data_tag_key *key, uint32_t session, uint8_t *frame);

/* True if a frame of data, good by frame_check() and 'bytes' long, has the tag of this session; in
 * constant time. */
bool data_tag_matches(
	const struct data_tag_key *key, uint32_t session, const uint8_t *frame, unsigned bytes);
