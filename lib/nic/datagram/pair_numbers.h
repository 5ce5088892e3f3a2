/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A number for each of the other hosts, 0 at first, for fabrics with so many hosts that an array of
 * numbers for all pairs would be most of the memory. Only hosts whose number was set take room:
 * each an entry of a hash table with open addressing, which is searched a cache line at a time.
 * When a byte for every host takes less, numbers below PAIR_NUMBERS_LARGE become bytes, and the
 * table has only the others.
 *
 * The table is made larger when it is three quarters full, never for a host that has a number. One
 * thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIR_NUMBERS_LARGE 255u

struct pair_number {
	uint32_t key; /* host + 1; 0: a free entry */
	uint32_t value;
};

struct pair_numbers {
	struct pair_number *entry; /* [1 << bits] */
	uint8_t *small;            /* [hosts] PAIR_NUMBERS_LARGE: in the table; NULL: all are */
	uint32_t used, hosts;
	uint8_t bits;
	bool failed; /* there was no memory for a number, which was lost */
};

/* 0 or -ENOMEM. */
int pair_numbers_init(struct pair_numbers *numbers, uint32_t hosts);
void pair_numbers_fini(struct pair_numbers *numbers);

/* The entry at which the search for a host begins: to be prefetched. */
static inline const void *pair_numbers_place(const struct pair_numbers *numbers, uint32_t host)
{
	if (numbers->small != NULL)
		return &numbers->small[host];
	return &numbers->entry[(host * UINT32_C(0x9E3779B1)) >> (32 - numbers->bits)];
}

uint32_t pair_numbers_get(const struct pair_numbers *numbers, uint32_t host);
void pair_numbers_set(struct pair_numbers *numbers, uint32_t host, uint32_t value);

/* The number, which grows by 1 then. */
uint32_t pair_numbers_take(struct pair_numbers *numbers, uint32_t host);
