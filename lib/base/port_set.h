/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Sets of switch ports. The switch and its drivers are compiled twice: for up to 64 ports, with one
 * word per set, and with PORT_SET_WIDE for up to 255 ports, with a vector of four words. Both forms
 * support the operators &, |, ~ and ^; all other operations are functions. The wide form is used in
 * separate programs (process/program.h), so it costs smaller switches nothing.
 *
 * Files that are always compiled for 64 ports store port sets in uint64_t. */

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "rng.h"

/* 64-bit sets with O(1) round-robin selection. A set is a uint64_t; member i is bit i. */

#define BIT64(i) ((uint64_t)1 << (i))

/* Returns the first member at or after 'from' (0..63), wrapping round. 'set' must not be empty. */
static inline unsigned bits_round_robin(uint64_t set, unsigned from)
{
	uint64_t after = set & (UINT64_MAX << from);

	return (unsigned)__builtin_ctzll(after != 0 ? after : set);
}

/* Compares BITS_BYTES bytes with 'value' without a branch. Bit i of the result is set if byte i
 * matches. */
#define BITS_BYTES 8u
static inline uint64_t bits_equal_bytes(const uint8_t bytes[BITS_BYTES], uint8_t value)
{
	const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F), each = UINT64_C(0x0101010101010101);
	uint64_t word, differ;

	memcpy(&word, bytes, sizeof(word));
	differ = le64toh(word) ^ each * value;
	/* Sets the top bit of each byte that is not 0. */
	differ |= (differ & low) + low;
	/* The multiplication moves bit 8 i to bit 56 + i. */
	return ((~differ & ~low) >> 7) * UINT64_C(0x0102040810204080) >> 56;
}

#ifdef PORT_SET_WIDE
#define PORT_SET_WORDS 4u
/* Tables store sets as arrays of words. The attributes make that legal (aliasing, alignment). */
typedef uint64_t port_set __attribute__((vector_size(32), aligned(8), may_alias));
#else
#define PORT_SET_WORDS 1u
typedef uint64_t port_set;
#endif
#define PORT_SET_PORTS (64u * PORT_SET_WORDS)
/* Maximum number of ports of a switch. In a byte, 255 means none. */
#define PORT_SET_LIMIT (PORT_SET_PORTS < 256 ? PORT_SET_PORTS : 255u)
#define PORT_SET_NONE  ((port_set){0})

static inline __attribute__((always_inline)) uint64_t port_set_word(port_set set, unsigned word)
{
#ifdef PORT_SET_WIDE
	return set[word];
#else
	(void)word;
	return set;
#endif
}

/* Returns 'bits' as a set that starts at 'port'. The set must not extend into the next word. */
static inline __attribute__((always_inline)) port_set port_set_from(uint64_t bits, unsigned port)
{
#ifdef PORT_SET_WIDE
	port_set set = {0};

	set[port / 64] = bits << port % 64;
	return set;
#else
	return bits << port;
#endif
}

static inline __attribute__((always_inline)) port_set port_set_of(unsigned port)
{
	return port_set_from(1, port);
}

/* Returns the set of all ports below 'ports', which must not be 0. */
static inline __attribute__((always_inline)) port_set port_set_all(unsigned ports)
{
#ifdef PORT_SET_WIDE
	port_set set = {0};

	for (unsigned port = 0; port < ports; port++)
		set[port / 64] |= BIT64(port % 64);
	return set;
#else
	return UINT64_MAX >> (64 - ports);
#endif
}

static inline __attribute__((always_inline)) bool port_set_has(port_set set, unsigned port)
{
#ifdef PORT_SET_WIDE
	return (set[port / 64] >> port % 64 & 1) != 0;
#else
	return (set >> port & 1) != 0;
#endif
}

static inline __attribute__((always_inline)) bool port_set_is_empty(port_set set)
{
#ifdef PORT_SET_WIDE
	return (set[0] | set[1] | set[2] | set[3]) == 0;
#else
	return set == 0;
#endif
}

static inline __attribute__((always_inline)) bool port_set_equal(port_set a, port_set b)
{
	return port_set_is_empty(a ^ b);
}

static inline __attribute__((always_inline)) unsigned port_set_count(port_set set)
{
	unsigned count = 0;

	for (unsigned word = 0; word < PORT_SET_WORDS; word++)
		count += (unsigned)__builtin_popcountll(port_set_word(set, word));
	return count;
}

/* Returns the smallest member. 'set' must not be empty. */
static inline __attribute__((always_inline)) unsigned port_set_first(port_set set)
{
	unsigned word = 0;

	while (word + 1 < PORT_SET_WORDS && port_set_word(set, word) == 0)
		word++;
	return 64 * word + (unsigned)__builtin_ctzll(port_set_word(set, word));
}

/* Returns all but the smallest member. 'set' must not be empty. */
static inline __attribute__((always_inline)) port_set port_set_rest(port_set set)
{
#ifdef PORT_SET_WIDE
	return set & ~port_set_of(port_set_first(set));
#else
	return set & (set - 1);
#endif
}

/* Loops over the members of a set in order. 'left' holds the current and remaining members. */
#define PORT_SET_EACH(left, set) \
	for (port_set left = (set); !port_set_is_empty(left); left = port_set_rest(left))

/* Returns the first member at or after 'from', wrapping round. 'set' must not be empty. */
static inline __attribute__((always_inline)) unsigned port_set_round_robin(
	port_set set, unsigned from)
{
#ifdef PORT_SET_WIDE
	unsigned word = from / 64;
	uint64_t bits = set[word] & UINT64_MAX << from % 64;

	while (bits == 0)
		bits = set[word = (word + 1) % PORT_SET_WORDS];
	return 64 * word + (unsigned)__builtin_ctzll(bits);
#else
	return bits_round_robin(set, from);
#endif
}

/* Returns a random member of a non-empty set. A set of one member consumes no random number. */
static inline unsigned port_set_draw(port_set set, struct rng *rng)
{
	unsigned count = port_set_count(set);
	uint64_t skip = count > 1 ? rng_below(rng, count) : 0;

	while (skip-- > 0)
		set = port_set_rest(set);
	return port_set_first(set);
}

/* Access to sets that threads share, atomic per word. 'order' is as in the __atomic built-ins. */
static inline __attribute__((always_inline)) void port_set_store(
	port_set *place, port_set set, const int order)
{
	for (unsigned word = 0; word < PORT_SET_WORDS; word++)
		__atomic_store_n((uint64_t *)place + word, port_set_word(set, word), order);
}

static inline __attribute__((always_inline)) port_set port_set_load(
	const port_set *place, const int order)
{
	port_set set = PORT_SET_NONE;

	for (unsigned word = 0; word < PORT_SET_WORDS; word++)
		set |= port_set_from(
			__atomic_load_n((const uint64_t *)place + word, order), 64 * word);
	return set;
}
