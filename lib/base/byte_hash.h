/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A hash of bytes, for finding and comparing equal ones, not for secrets. It reads words in the
 * machine's byte order, so two machines can compare hashes only if their byte order is the same. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rng.h"

/* 'hash': the hash of the preceding bytes; any number at first. */
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
