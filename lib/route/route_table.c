/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "topo/topology_hosts.h"

struct route_table *route_table_create(uint32_t switches, uint32_t hosts)
{
	size_t entries = (size_t)switches * hosts;
	struct route_table *table = calloc(1, sizeof(*table) + entries);

	if (table == NULL)
		return NULL;
	table->switches = switches;
	table->hosts = hosts;
	table->words = 1;
	memset(table->primary, ROUTE_TABLE_NONE, entries);
	return table;
}

int route_table_add_alternatives(struct route_table *table, unsigned words)
{
	table->words = words;
	table->alternatives = calloc(
		(size_t)table->switches * table->hosts * words + 1, sizeof(*table->alternatives));
	return table->alternatives == NULL ? -ENOMEM : 0;
}

void route_table_destroy(struct route_table *table)
{
	if (table == NULL)
		return;
	free(table->alternatives);
	vc_rule_destroy(table->vc_rule);
	free(table);
}

uint8_t route_table_port(const struct route_table *table, uint32_t at, uint32_t host)
{
	const uint64_t *sets = route_table_alternatives(table, at);
	uint8_t primary = route_table_row(table, at)[host];
	uint64_t global;

	if (primary != ROUTE_TABLE_NONE || sets == NULL || sets[host] == 0 ||
		table->vc_rule == NULL || !vc_steps_is_ladder(table->vc_rule->steps))
		return primary;
	/* Prefers the switch's own link to another group, which is nearer. */
	global = sets[host] & table->vc_rule->dateline[at];
	return (uint8_t)__builtin_ctzll(global != 0 ? global : sets[host]);
}

/* Returns the number of destinations that the switch of a host should reach but cannot. Sets
 * '*first' to the first of them. */
static uint32_t row_holes(const struct route_table *table, const struct topology *topology,
	uint32_t source, uint32_t at, uint32_t *first)
{
	uint32_t holes = 0;

	for (uint32_t host = table->hosts; host-- > 0;)
		if (route_table_port(table, at, host) == ROUTE_TABLE_NONE &&
			!topology_apart(topology, source, host)) {
			*first = host;
			holes++;
		}
	return holes;
}

int route_table_check_connected(
	const struct route_table *table, const struct topology *topology, struct error *error)
{
	uint32_t source = 0, destination = 0, unreached = 0;
	uint64_t missing = 0;

	for (uint32_t host = 0; host < table->hosts; host++) {
		struct topology_port peer;
		bool attached = topology_host_switch(topology, host, &peer);
		uint32_t holes =
			attached ? row_holes(table, topology, host, peer.device, &unreached)
			: topology_apart(topology, host, host) ? 0 /* no cable is defined */
							       : table->hosts - 1;

		if (holes > 0 && missing == 0) {
			source = host;
			destination = attached ? unreached : (host == 0 ? 1 : 0);
		}
		missing += holes;
	}
	if (missing == 0)
		return 0;
	return error_set(error, EINVAL,
		"%s: there is no path from %s to %s (%" PRIu64
		" pairs of hosts have no path); use a connected topology",
		topology->name, topology->host_at[source].name, topology->host_at[destination].name,
		missing);
}

#define BLOCKS_MAX (UINT16_MAX + 1u)
#define EMPTY      UINT32_MAX

/* Items of equal size, each stored once, and a hash table (open addressing) of their indices. */
struct distinct {
	uint8_t *item;
	size_t bytes; /* size of an item */
	uint32_t count, size;
	uint32_t *slot; /* [2 * size]: indices of items, or EMPTY */
};

/* Returns the slot of an equal item, or the empty slot for it. */
static uint32_t *find(const struct distinct *distinct, const void *item)
{
	uint32_t mask = 2 * distinct->size - 1;
	uint32_t at = (uint32_t)byte_hash(0, item, distinct->bytes) & mask;

	while (distinct->slot[at] != EMPTY &&
		memcmp(distinct->item + distinct->slot[at] * distinct->bytes, item,
			distinct->bytes) != 0)
		at = (at + 1) & mask;
	return &distinct->slot[at];
}

/* Doubles the capacity. Returns false if out of memory. */
static bool grow(struct distinct *distinct)
{
	uint32_t size = distinct->size == 0 ? 64 : 2 * distinct->size;
	uint8_t *item = realloc(distinct->item, size * distinct->bytes);
	uint32_t *slot;

	if (item == NULL)
		return false;
	distinct->item = item;
	slot = realloc(distinct->slot, 2 * size * sizeof(*slot));
	if (slot == NULL)
		return false;
	distinct->slot = slot;
	distinct->size = size;
	memset(slot, 0xFF, 2 * size * sizeof(*slot));
	for (uint32_t i = 0; i < distinct->count; i++)
		*find(distinct, item + i * distinct->bytes) = i;
	return true;
}

/* Returns the index of an equal item, which is added if necessary; EMPTY if out of memory. */
static uint32_t number_of(struct distinct *distinct, const void *item)
{
	uint32_t *slot;

	if (distinct->count == distinct->size && !grow(distinct))
		return EMPTY;
	slot = find(distinct, item);
	if (*slot == EMPTY) {
		memcpy(distinct->item + distinct->count * distinct->bytes, item, distinct->bytes);
		*slot = distinct->count++;
	}
	return *slot;
}

/* Finds the block indices of a row. Returns 0, -ENOMEM or -ERANGE. */
static int cut_row(struct distinct *blocks, const uint8_t *port, uint32_t hosts, uint16_t *row)
{
	for (uint32_t host = 0, i = 0; host < hosts; host += ROUTE_BLOCK_HOSTS, i++) {
		uint32_t left = hosts - host, number;
		uint8_t block[ROUTE_BLOCK_HOSTS];

		memset(block, ROUTE_TABLE_NONE, sizeof(block));
		memcpy(block, port + host, left < ROUTE_BLOCK_HOSTS ? left : ROUTE_BLOCK_HOSTS);
		number = number_of(blocks, block);
		if (number == EMPTY)
			return -ENOMEM;
		if (number >= BLOCKS_MAX)
			return -ERANGE;
		row[i] = (uint16_t)number;
	}
	return 0;
}

static int fill(struct route_blocks *cut, const struct route_table *table, struct distinct *blocks,
	struct distinct *rows)
{
	uint16_t *row = malloc(rows->bytes);
	int result = row == NULL || cut->row_of == NULL ? -ENOMEM : 0;

	for (uint32_t at = 0; at < table->switches && result == 0; at++) {
		result = cut_row(blocks, route_table_row(table, at), table->hosts, row);
		if (result == 0)
			cut->row_of[at] = number_of(rows, row);
		if (result == 0 && cut->row_of[at] == EMPTY)
			result = -ENOMEM;
	}
	free(row);
	return result;
}

struct route_blocks *route_blocks_create(const struct route_table *table)
{
	struct route_blocks *cut = calloc(1, sizeof(*cut));
	struct distinct blocks = {.bytes = ROUTE_BLOCK_HOSTS}, rows = {0};
	int result;

	if (cut == NULL)
		return NULL;
	cut->row_blocks = (table->hosts + ROUTE_BLOCK_HOSTS - 1) / ROUTE_BLOCK_HOSTS;
	cut->row_of = calloc(table->switches + 1u, sizeof(*cut->row_of));
	rows.bytes = cut->row_blocks * sizeof(uint16_t);
	result = fill(cut, table, &blocks, &rows);
	cut->blocks = blocks.count;
	cut->rows = rows.count;
	cut->port = blocks.item;
	cut->row = (uint16_t *)(void *)rows.item;
	free(blocks.slot);
	free(rows.slot);
	if (result == 0)
		return cut;
	route_blocks_destroy(cut);
	errno = -result;
	return NULL;
}

void route_blocks_destroy(struct route_blocks *blocks)
{
	if (blocks == NULL)
		return;
	free(blocks->row_of);
	free(blocks->row);
	free(blocks->port);
	free(blocks);
}
