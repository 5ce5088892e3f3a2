/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counter-based random numbers: the n-th number of a stream is a pure function of (seed, device,
 * stream, n), so results depend neither on the order in which devices are served nor on cores or
 * addresses. The function is SplitMix64's finaliser over a keyed counter (Steele, Lea, Flood,
 * OOPSLA 2014): one multiply-xorshift chain, no tables, statistically sound for traffic and ties,
 * not for secrets. Each stream has one user; streams are independent of each other. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rng {
	uint64_t key;
	uint64_t counter;
};

static inline uint64_t rng_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Starts 'stream' of 'device' under 'seed' at its first number. */
static inline void rng_init(struct rng *rng, uint64_t seed, uint64_t device, uint64_t stream)
{
	/* Three rounds decorrelate neighbouring seeds, devices and streams. */
	rng->key = rng_mix(rng_mix(rng_mix(seed + 0x9e3779b97f4a7c15u) ^ device) ^
			   (stream + 0xd1b54a32d192ed03u));
	rng->counter = 0;
}

/* Returns the next 64 uniformly random bits. */
static inline uint64_t rng_next(struct rng *rng)
{
	return rng_mix(rng->key + rng->counter++ * 0x9e3779b97f4a7c15u);
}

/* Returns a uniform number in [0, bound), bound > 0. Multiply-shift bias is below bound / 2^64. */
static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	return (uint64_t)(((unsigned __int128)rng_next(rng) * bound) >> 64);
}

/* Returns true with probability 'parts' per million. */
static inline int rng_chance_ppm(struct rng *rng, uint32_t parts)
{
	return rng_below(rng, 1000000) < parts;
}

/* Hashes a byte string, for lookups and comparisons, not for secrets. 'hash': hash of the preceding
 * bytes, or any initial value. Words are read in the machine's byte order, so only machines with
 * the same byte order can compare hashes. */
static inline uint64_t byte_hash(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;
	uint64_t word = 0;

	for (size_t i = 0; i < size; i += sizeof(word)) {
		size_t left = size - i;

		memcpy(&word, at + i, left < sizeof(word) ? left : sizeof(word));
		hash = rng_mix(hash ^ word);
	}
	return hash;
}
