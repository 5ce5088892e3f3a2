/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * SipHash-2-4 (Aumasson, Bernstein 2012) word by word, for short texts that are hashed often: the
 * caller keeps the state of a key, and reads words from where they are. libsodium's
 * crypto_shorthash() gives the same tags, and siphash_test compares them.
 *
 * No state of its own, no allocation; the time does not depend on key or text.
 */

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define SIPHASH_KEY_BYTES 16
#define SIPHASH_TAG_BYTES 8

/* The state of a key, or of a text that has begun. */
struct siphash {
	uint64_t v[4];
};

/* The eight bytes of a text from here on, as a word. */
static inline uint64_t siphash_load(const uint8_t *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word);
}

static inline uint64_t siphash_rotate(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void siphash_round(struct siphash *hash)
{
	uint64_t *v = hash->v;

	v[0] += v[1];
	v[2] += v[3];
	v[1] = siphash_rotate(v[1], 13) ^ v[0];
	v[3] = siphash_rotate(v[3], 16) ^ v[2];
	v[0] = siphash_rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = siphash_rotate(v[1], 17) ^ v[2];
	v[3] = siphash_rotate(v[3], 21) ^ v[0];
	v[2] = siphash_rotate(v[2], 32);
}

/* Begins every text of a key. */
static inline struct siphash siphash_begin(const uint8_t key[SIPHASH_KEY_BYTES])
{
	uint64_t low = siphash_load(key), high = siphash_load(key + 8);

	return (struct siphash){{low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d,
		low ^ 0x6c7967656e657261, high ^ 0x7465646279746573}};
}

/* The next eight bytes of the text. */
static inline void siphash_word(struct siphash *hash, uint64_t word)
{
	hash->v[3] ^= word;
	siphash_round(hash);
	siphash_round(hash);
	hash->v[0] ^= word;
}

/* The tag of the text as it is in memory. 'rest': its last bytes, fewer than eight, as the lower
 * part of a word; 'bytes': the length of the whole text. */
static inline uint64_t siphash_end(struct siphash *hash, uint64_t rest, unsigned bytes)
{
	siphash_word(hash, rest | (uint64_t)bytes << 56);
	hash->v[2] ^= 0xff;
	for (unsigned i = 0; i < 4; i++)
		siphash_round(hash);
	return htole64(hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3]);
}
