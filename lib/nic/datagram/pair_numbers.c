/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pair_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS_FIRST 3u
#define BITS_MAX   17u /* room for all hosts, half empty */

#define LINE (64u / (unsigned)sizeof(struct pair_number))

_Static_assert(1u << BITS_FIRST == LINE, "a table is whole cache lines");

/* Free entries, in whole cache lines. */
static struct pair_number *create(unsigned bits)
{
	const size_t bytes = sizeof(struct pair_number) << bits;
	struct pair_number *entry = aligned_alloc(64, bytes);

	return entry != NULL ? memset(entry, 0, bytes) : NULL;
}

int pair_numbers_init(struct pair_numbers *numbers, uint32_t hosts)
{
	*numbers = (struct pair_numbers){.hosts = hosts, .bits = BITS_FIRST};
	numbers->entry = create(BITS_FIRST);
	return numbers->entry != NULL ? 0 : -ENOMEM;
}

void pair_numbers_fini(struct pair_numbers *numbers)
{
	free(numbers->entry);
	free(numbers->small);
	*numbers = (struct pair_numbers){0};
}

/* The host's entry, or the free one that it would take: in the line of its place, which has been
 * prefetched, and only if that is full in the next one. */
static struct pair_number *find(const struct pair_numbers *numbers, uint32_t host)
{
	const uint32_t mask = (UINT32_C(1) << numbers->bits) - 1;
	uint32_t at = (host * UINT32_C(0x9E3779B1)) >> (32 - numbers->bits);

	for (;; at = (at + LINE) & mask)
		for (uint32_t i = 0; i < LINE; i++) {
			uint32_t next = (at & ~(LINE - 1)) | ((at + i) & (LINE - 1));
			struct pair_number *entry = &numbers->entry[next];

			if (entry->key == 0 || entry->key == host + 1)
				return entry;
		}
}

/* Moves the entries to a table of such a size; small ones to their bytes, if there are any. */
static bool move_to(struct pair_numbers *numbers, unsigned bits)
{
	struct pair_number *old = numbers->entry;
	const uint32_t count = UINT32_C(1) << numbers->bits;
	struct pair_number *entry = create(bits);

	if (entry == NULL)
		return false;
	numbers->entry = entry;
	numbers->bits = (uint8_t)bits;
	numbers->used = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (old[i].key == 0)
			continue;
		if (numbers->small != NULL && old[i].value < PAIR_NUMBERS_LARGE) {
			numbers->small[old[i].key - 1] = (uint8_t)old[i].value;
			continue;
		}
		if (numbers->small != NULL)
			numbers->small[old[i].key - 1] = PAIR_NUMBERS_LARGE;
		*find(numbers, old[i].key - 1) = old[i];
		numbers->used++;
	}
	free(old);
	return true;
}

/* A larger table, or bytes in its place if they take less. */
static bool grow(struct pair_numbers *numbers)
{
	const unsigned bits = numbers->bits + 1u;

	if (numbers->small == NULL && (sizeof(*numbers->entry) << bits) > numbers->hosts) {
		numbers->small = calloc(numbers->hosts, 1);
		if (numbers->small == NULL)
			return false;
		if (move_to(numbers, numbers->bits))
			return true;
		free(numbers->small); /* bytes that know no number yet */
		numbers->small = NULL;
		return false;
	}
	return bits <= BITS_MAX && move_to(numbers, bits);
}

/* Not in the hot part of set(): hosts without an entry are few after a while. */
static __attribute__((noinline)) void add(
	struct pair_numbers *numbers, uint32_t host, uint32_t value)
{
	const uint32_t room = UINT32_C(1) << numbers->bits;

	if (numbers->used + 1 > room / 4 * 3 && !grow(numbers) && numbers->used + 1 >= room) {
		numbers->failed = true;
		return;
	}
	if (numbers->small != NULL && value < PAIR_NUMBERS_LARGE) {
		numbers->small[host] = (uint8_t)value;
		return;
	}
	if (numbers->small != NULL)
		numbers->small[host] = PAIR_NUMBERS_LARGE;
	*find(numbers, host) = (struct pair_number){host + 1, value};
	numbers->used++;
}

uint32_t pair_numbers_get(const struct pair_numbers *numbers, uint32_t host)
{
	const struct pair_number *entry;

	if (numbers->small != NULL && numbers->small[host] != PAIR_NUMBERS_LARGE)
		return numbers->small[host];
	entry = find(numbers, host);
	return entry->key != 0 ? entry->value : 0;
}

void pair_numbers_set(struct pair_numbers *numbers, uint32_t host, uint32_t value)
{
	struct pair_number *entry;

	if (numbers->small != NULL && numbers->small[host] != PAIR_NUMBERS_LARGE &&
		value < PAIR_NUMBERS_LARGE) {
		numbers->small[host] = (uint8_t)value;
		return;
	}
	entry = find(numbers, host);
	if (entry->key != 0)
		entry->value = value;
	else
		add(numbers, host, value);
}

uint32_t pair_numbers_take(struct pair_numbers *numbers, uint32_t host)
{
	uint32_t value = pair_numbers_get(numbers, host);

	pair_numbers_set(numbers, host, value + 1);
	return value;
}
