/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* 64-bit sets, with round-robin selection in O(1). A set is a uint64_t; member i is bit i. Sets of
 * ports of the switch and its drivers: port_set.h. */

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define BIT64(i) ((uint64_t)1 << (i))

/* The first member at or after 'from' (0..63), wrapping round. 'set' is not empty. */
static inline unsigned bits_round_robin(uint64_t set, unsigned from)
{
	uint64_t after = set & (UINT64_MAX << from);

	return (unsigned)__builtin_ctzll(after != 0 ? after : set);
}

/* Compares BITS_BYTES bytes with 'value' without a branch: bit i of the result is byte i. */
#define BITS_BYTES 8u
static inline uint64_t bits_equal_bytes(const uint8_t bytes[BITS_BYTES], uint8_t value)
{
	const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F), each = UINT64_C(0x0101010101010101);
	uint64_t word, differ;

	memcpy(&word, bytes, sizeof(word));
	differ = le64toh(word) ^ each * value;
	/* The top bit of each byte is set if the byte is not 0. */
	differ |= (differ & low) + low;
	/* The multiplication moves bit 8 i to bit 56 + i. */
	return ((~differ & ~low) >> 7) * UINT64_C(0x0102040810204080) >> 56;
}
