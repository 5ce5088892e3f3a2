/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

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

#include <stdbool.h>
#include <stdint.h>

#include "link_seal.h"

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
