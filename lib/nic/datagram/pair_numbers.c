/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "pair_numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS_FIRST 3u

#define LINE (64u / (unsigned)sizeof(struct pair_number))

_Static_assert(1u << BITS_FIRST == LINE, "a table fills whole cache lines");
_Static_assert(offsetof(struct pair_numbers, entry) == 16, "what is read first is 16 bytes");

static uint32_t hosts_of(const struct pair_numbers *numbers)
{
	return numbers->last_host + 1u;
}

/* Returns free entries, in whole cache lines, or NULL if out of memory. */
static struct pair_number *create(unsigned bits)
{
	const size_t bytes = sizeof(struct pair_number) << bits;
	struct pair_number *entry = aligned_alloc(64, bytes);

	return entry != NULL ? memset(entry, 0, bytes) : NULL;
}

int pair_numbers_init(struct pair_numbers *numbers, enum pair_numbers_kind kind, uint32_t hosts,
	const struct pair_memory *memory)
{
	*numbers = (struct pair_numbers){
		.step = 1, .kind = kind, .bits = BITS_FIRST, .last_host = (uint16_t)(hosts - 1)};
	if (kind == PAIR_NUMBERS_FEW) {
		numbers->entry = create(BITS_FIRST);
		return numbers->entry != NULL ? 0 : -ENOMEM;
	}
	if (memory != NULL) {
		numbers->given = true;
		numbers->step = memory->step;
		numbers->small = memory->first;
		return 0;
	}
	numbers->small = calloc(hosts, kind == PAIR_NUMBERS_ALL ? sizeof(*numbers->all) : 1);
	return numbers->small != NULL ? 0 : -ENOMEM;
}

void pair_numbers_fini(struct pair_numbers *numbers)
{
	free(numbers->entry);
	if (!numbers->given)
		free(numbers->small);
	*numbers = (struct pair_numbers){0};
}

/* Returns the host's entry, or the free entry that it would use. The entry is in the hash slot's
 * cache line, which has been prefetched, or in a following line if that one is full. */
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

/* Moves the entries to a table of this size, and small numbers to their bytes, if any. */
static bool move_to(struct pair_numbers *numbers, unsigned bits)
{
	struct pair_number *old = numbers->entry;
	const uint32_t count = old != NULL ? UINT32_C(1) << numbers->bits : 0;
	const bool bytes = numbers->kind == PAIR_NUMBERS_BYTES;
	struct pair_number *entry = create(bits);

	if (entry == NULL)
		return false;
	numbers->entry = entry;
	numbers->bits = bits;
	numbers->used = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (old[i].key == 0)
			continue;
		if (bytes && old[i].value < PAIR_NUMBERS_LARGE) {
			*pair_numbers_small(numbers, old[i].key - 1) = (uint8_t)old[i].value;
			continue;
		}
		if (bytes)
			*pair_numbers_small(numbers, old[i].key - 1) = PAIR_NUMBERS_LARGE;
		*find(numbers, old[i].key - 1) = old[i];
		numbers->used++;
	}
	free(old);
	return true;
}

static bool become_bytes(struct pair_numbers *numbers)
{
	numbers->small = calloc(hosts_of(numbers), 1);
	if (numbers->small == NULL)
		return false;
	numbers->kind = PAIR_NUMBERS_BYTES;
	if (move_to(numbers, numbers->bits))
		return true;
	free(numbers->small); /* does not contain any numbers yet */
	numbers->small = NULL;
	numbers->kind = PAIR_NUMBERS_FEW;
	return false;
}

static bool become_all(struct pair_numbers *numbers)
{
	uint32_t *all = calloc(hosts_of(numbers), sizeof(*all));

	if (all == NULL)
		return false;
	for (uint32_t host = 0; host <= numbers->last_host; host++)
		all[host] = pair_numbers_get(numbers, host);
	if (!numbers->given)
		free(numbers->small);
	free(numbers->entry);
	numbers->all = all;
	numbers->step = 1;
	numbers->given = 0;
	numbers->kind = PAIR_NUMBERS_ALL;
	numbers->entry = NULL;
	numbers->used = 0;
	return true;
}

/* Enlarges the table, or replaces it with an array if that is smaller. */
static bool grow(struct pair_numbers *numbers)
{
	const unsigned bits = numbers->entry != NULL ? numbers->bits + 1u : BITS_FIRST;
	const size_t bytes = sizeof(*numbers->entry) << bits;

	if (numbers->kind == PAIR_NUMBERS_FEW && bytes > hosts_of(numbers))
		return become_bytes(numbers);
	if (numbers->kind == PAIR_NUMBERS_BYTES && bytes > sizeof(uint32_t) * hosts_of(numbers))
		return become_all(numbers);
	return move_to(numbers, bits);
}

/* Not inlined in put(), because after a while few hosts still lack an entry. */
static __attribute__((noinline)) void add(
	struct pair_numbers *numbers, uint32_t host, uint32_t value)
{
	const uint32_t room = numbers->entry != NULL ? UINT32_C(1) << numbers->bits : 0;

	if (numbers->used + 1u > room / 4 * 3 && !grow(numbers) && numbers->used + 1u >= room) {
		numbers->failed = true;
		return;
	}
	if (numbers->kind == PAIR_NUMBERS_ALL) {
		*pair_numbers_all(numbers, host) = value;
		return;
	}
	if (numbers->kind == PAIR_NUMBERS_BYTES && value < PAIR_NUMBERS_LARGE) {
		*pair_numbers_small(numbers, host) = (uint8_t)value;
		return;
	}
	if (numbers->kind == PAIR_NUMBERS_BYTES)
		*pair_numbers_small(numbers, host) = PAIR_NUMBERS_LARGE;
	*find(numbers, host) = (struct pair_number){host + 1, value};
	numbers->used++;
}

/* With bytes, the table contains only numbers that are or were large. */
static bool may_have_entry(const struct pair_numbers *numbers, uint32_t host)
{
	return numbers->kind == PAIR_NUMBERS_FEW ||
	       *pair_numbers_small(numbers, host) == PAIR_NUMBERS_LARGE;
}

uint32_t pair_numbers_find(const struct pair_numbers *numbers, uint32_t host)
{
	const struct pair_number *entry = find(numbers, host);

	return entry->key != 0 ? entry->value : 0;
}

void pair_numbers_put(struct pair_numbers *numbers, uint32_t host, uint32_t value)
{
	struct pair_number *entry = may_have_entry(numbers, host) ? find(numbers, host) : NULL;

	if (entry != NULL && entry->key != 0)
		entry->value = value;
	else
		add(numbers, host, value);
}
