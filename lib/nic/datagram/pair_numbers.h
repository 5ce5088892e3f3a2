/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A number per remote host, initially 0. In a fabric of thousands of hosts, the numbers of all
 * pairs are most of the memory that a run touches, so they are stored compactly (enum
 * pair_numbers_kind). A hash table that would exceed one byte per host is replaced with bytes. A
 * table in addition to bytes that would exceed four bytes per host is replaced with four bytes per
 * host.
 *
 * Single-threaded. The caller's memory may also contain numbers of other objects, used by other
 * threads. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_NUMBERS_LARGE 255u
#define PAIR_HOSTS_MAX     65536u

enum pair_numbers_kind {
	/* Four bytes per host. */
	PAIR_NUMBERS_ALL,
	/* One byte per host; numbers from PAIR_NUMBERS_LARGE on are in a hash table. */
	PAIR_NUMBERS_BYTES,
	/* A hash table of the hosts whose number was set, with open addressing, searched one cache
	   line at a time. */
	PAIR_NUMBERS_FEW,
};

/* Zeroed memory for each host, one or four bytes depending on the kind. */
struct pair_memory {
	void *first;
	uint32_t step; /* distance of consecutive numbers, in numbers; below 4 * PAIR_HOSTS_MAX */
};

struct pair_number {
	uint32_t key; /* host + 1; 0: a free entry */
	uint32_t value;
};

struct pair_numbers {
	/* All data that is read, except the table, is in these 16 bytes. */
	union {
		uint8_t *small; /* PAIR_NUMBERS_BYTES; value PAIR_NUMBERS_LARGE: in the table */
		uint32_t *all;  /* PAIR_NUMBERS_ALL */
	};
	uint32_t step : 18; /* distance of consecutive numbers */
	uint32_t kind : 2;  /* enum pair_numbers_kind */
	uint32_t bits : 5;
	uint32_t given : 1;  /* this memory is the caller's */
	uint32_t failed : 1; /* a number was lost because memory ran out */
	uint16_t last_host;
	uint16_t used;             /* entries in use */
	struct pair_number *entry; /* [1 << bits]; NULL: none yet */
};

/* 'hosts': 1 to PAIR_HOSTS_MAX. 'memory': owned by the caller; NULL, and with PAIR_NUMBERS_FEW:
 * allocated here. Returns 0 or -ENOMEM. */
int pair_numbers_init(struct pair_numbers *numbers, enum pair_numbers_kind kind, uint32_t hosts,
	const struct pair_memory *memory);
void pair_numbers_fini(struct pair_numbers *numbers);

static inline uint8_t *pair_numbers_small(const struct pair_numbers *numbers, uint32_t host)
{
	return &numbers->small[(size_t)host * numbers->step];
}

static inline uint32_t *pair_numbers_all(const struct pair_numbers *numbers, uint32_t host)
{
	return &numbers->all[(size_t)host * numbers->step];
}

/* Returns the address that is read first for a host, for prefetching. */
static inline const void *pair_numbers_place(const struct pair_numbers *numbers, uint32_t host)
{
	if (numbers->kind == PAIR_NUMBERS_BYTES)
		return pair_numbers_small(numbers, host);
	if (numbers->kind == PAIR_NUMBERS_ALL)
		return pair_numbers_all(numbers, host);
	return &numbers->entry[(host * UINT32_C(0x9E3779B1)) >> (32 - numbers->bits)];
}

/* Slow paths of get() and set(), for a number that is not in a byte. Not for PAIR_NUMBERS_ALL. */
uint32_t pair_numbers_find(const struct pair_numbers *numbers, uint32_t host);
void pair_numbers_put(struct pair_numbers *numbers, uint32_t host, uint32_t value);

/* Returns the host's byte if it contains the number and has room for 'next', otherwise NULL. */
static inline uint8_t *pair_numbers_byte(
	const struct pair_numbers *numbers, uint32_t host, uint32_t next)
{
	uint8_t *small;

	if (numbers->kind != PAIR_NUMBERS_BYTES || next >= PAIR_NUMBERS_LARGE)
		return NULL;
	small = pair_numbers_small(numbers, host);
	return *small != PAIR_NUMBERS_LARGE ? small : NULL;
}

static inline uint32_t pair_numbers_get(const struct pair_numbers *numbers, uint32_t host)
{
	const uint8_t *byte;

	if (numbers->kind == PAIR_NUMBERS_ALL)
		return *pair_numbers_all(numbers, host);
	byte = pair_numbers_byte(numbers, host, 0);
	return byte != NULL ? *byte : pair_numbers_find(numbers, host);
}

static inline void pair_numbers_set(struct pair_numbers *numbers, uint32_t host, uint32_t value)
{
	uint8_t *byte;

	if (numbers->kind == PAIR_NUMBERS_ALL) {
		*pair_numbers_all(numbers, host) = value;
		return;
	}
	byte = pair_numbers_byte(numbers, host, value);
	if (byte != NULL)
		*byte = (uint8_t)value;
	else
		pair_numbers_put(numbers, host, value);
}

/* Returns the number and increments it. */
static inline uint32_t pair_numbers_take(struct pair_numbers *numbers, uint32_t host)
{
	uint8_t *byte;
	uint32_t value;

	if (numbers->kind == PAIR_NUMBERS_ALL)
		return (*pair_numbers_all(numbers, host))++;
	byte = pair_numbers_byte(numbers, host, 0);
	if (byte != NULL && *byte + 1u < PAIR_NUMBERS_LARGE)
		return (*byte)++;
	value = pair_numbers_get(numbers, host);
	pair_numbers_set(numbers, host, value + 1);
	return value;
}

/* Handles the arrival of frame 'sequence': sets the number to the next one. Returns false if a
 * later frame arrived first; the number is then unchanged. */
static inline bool pair_numbers_pass(struct pair_numbers *numbers, uint32_t host, uint32_t sequence)
{
	if (__builtin_expect((int32_t)(sequence - pair_numbers_get(numbers, host)) < 0, 0))
		return false;
	pair_numbers_set(numbers, host, sequence + 1);
	return true;
}
