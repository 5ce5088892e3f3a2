/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The fabric key: 256 bits that all devices of a fabric share. It authenticates the messages
 * between mapper and devices (keyed BLAKE2b by libsodium, 128-bit tags); nothing is encrypted. A
 * device with the key can be the mapper; one without it can change nothing. Keys for other purposes
 * are derived from it, such as the key of the seals of links (lib/link/link_seal.h).
 *
 * On disk it is a file of 64 hexadecimal digits that only its owner may read or write. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"

#define FABRIC_KEY_BYTES 32
#define FABRIC_TAG_BYTES 16

struct fabric_key {
	uint8_t bytes[FABRIC_KEY_BYTES];
};

/* Reads a key file. -EACCES: others may read or write it, or it belongs to another user; -EINVAL:
 * not a regular file, or not 64 hexadecimal digits with at most a newline; or the errors of open()
 * and read(). On failure 'key' is unchanged. */
int fabric_key_load(struct fabric_key *key, const char *path, struct error *error);

/* The tag of these bytes. */
void fabric_key_tag(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	uint8_t tag[FABRIC_TAG_BYTES]);
/* Compares in constant time. */
bool fabric_key_matches(const struct fabric_key *key, const uint8_t *data, unsigned bytes,
	const uint8_t tag[FABRIC_TAG_BYTES]);

/* The key for another purpose, a word; it reveals nothing about this key. */
void fabric_key_derive(
	const struct fabric_key *key, const char *purpose, uint8_t out[FABRIC_KEY_BYTES]);

/* Number of the fabric of this identity, not 0: the same for all devices with this text and key.
 * 'key' may be NULL: then the text alone decides. Two texts share a number with a probability of 1
 * in 65,535. */
uint16_t fabric_number(const char *identity, const struct fabric_key *key);

/* Erases the key from memory. */
void fabric_key_wipe(struct fabric_key *key);
