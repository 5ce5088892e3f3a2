/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The fabric key: 256 bits that every device of a fabric shares. It authenticates what mapper and
 * devices say to each other (keyed BLAKE2b by libsodium, 128-bit tags); nothing is encrypted. Who
 * has the key can be the mapper, who does not have it can change nothing.
 *
 * On disk it is a file of 64 hexadecimal digits that nobody but its owner may read or write.
 */

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

#define FABRIC_KEY_BYTES 32
#define FABRIC_TAG_BYTES 16

struct fabric_key {
	uint8_t bytes[FABRIC_KEY_BYTES];
};

/* Reads a key file. -EACCES: others may read or write it, or it belongs to another user; -EINVAL:
 * no regular file, or not 64 hexadecimal digits and at most a newline; or what open() and read()
 * say. On failure 'key' is untouched. */
int fabric_key_load(struct fabric_key *key, const char *path, struct fault *fault);

/* The tag of these bytes. */
void fabric_key_tag(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	uint8_t tag[FABRIC_TAG_BYTES]);
/* In constant time. */
bool fabric_key_matches(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	const uint8_t tag[FABRIC_TAG_BYTES]);

/* Forgets it. */
void fabric_key_wipe(struct fabric_key *key);
