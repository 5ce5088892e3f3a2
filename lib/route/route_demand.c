/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_algorithm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Entries are stored in chunks, aligned to a unit. A slot contains the entry's unit index, or 0 if
 * it is empty, so 16 GiB are addressable. */
#define UNIT_BYTES  4u
#define CHUNK_UNITS (1u << 16)
#define CHUNKS      ((1u << 16) - 1)
#define ENTRY_BYTES (3 + ROUTE_ALTERNATIVES_MAX * (1 + ROUTE_ELEMENTS_MAX))
#define SLOTS_LOG   4

/* A hash table with linear probing; at most three quarters of the slots are used. */
struct slots {
	struct slots *older; /* readers may still use it; freed with the set */
	uint32_t log, used;
	_Atomic uint32_t unit[];
};

struct route_demand {
	struct route_set *set;
	struct route_maker *maker;
	struct route_graph *graph;
	struct route_options *options;
	uint32_t *row_of; /* by host */
	uint32_t rows;
	struct slots *_Atomic *slots; /* by row */
	uint8_t **chunk;
	atomic_bool failed;
	/* Protects the following members. */
	pthread_mutex_t lock;
	void *scratch;
	uint32_t next_unit;
	unsigned bytes;             /* size of 'entry' */
	uint32_t source;            /* source of the current pair */
	uint8_t entry[ENTRY_BYTES]; /* destination (2 bytes), then as in route_demand_entry() */
	struct error error;         /* the first error */
};

static uint16_t destination_of(const uint8_t *entry)
{
	uint16_t destination;

	memcpy(&destination, entry, sizeof(destination));
	return destination;
}

static const uint8_t *at_unit(const struct route_demand *demand, uint32_t unit)
{
	return demand->chunk[unit / CHUNK_UNITS] + (size_t)(unit % CHUNK_UNITS) * UNIT_BYTES;
}

/* Fibonacci hashing. */
static uint32_t first_slot(const struct slots *slots, uint32_t destination)
{
	return destination * 2654435769u >> (32 - slots->log);
}

static const uint8_t *find(
	const struct route_demand *demand, const struct slots *slots, uint32_t destination)
{
	uint32_t mask, i, unit;

	if (slots == NULL)
		return NULL;
	mask = (1u << slots->log) - 1;
	i = first_slot(slots, destination);
	while ((unit = atomic_load_explicit(&slots->unit[i], memory_order_acquire)) != 0) {
		const uint8_t *entry = at_unit(demand, unit);

		if (destination_of(entry) == destination)
			return entry + sizeof(uint16_t);
		i = (i + 1) & mask;
	}
	return NULL;
}

/* --- functions called with the lock held --- */

static void put(struct slots *slots, uint32_t destination, uint32_t unit)
{
	uint32_t i = first_slot(slots, destination), mask = (1u << slots->log) - 1;

	while (atomic_load_explicit(&slots->unit[i], memory_order_relaxed) != 0)
		i = (i + 1) & mask;
	atomic_store_explicit(&slots->unit[i], unit, memory_order_release);
	slots->used++;
}

/* Returns the slots of a row, with at least one free; NULL if out of memory. */
static struct slots *with_room(struct route_demand *demand, uint32_t row)
{
	struct slots *old = atomic_load_explicit(&demand->slots[row], memory_order_relaxed), *new;
	uint32_t size = old == NULL ? 0 : 1u << old->log;

	if (old != NULL && old->used < size - size / 4)
		return old;
	new = calloc(1, sizeof(*new) + (old == NULL ? 1u << SLOTS_LOG : 2 * (size_t)size) *
					       sizeof(new->unit[0]));
	if (new == NULL)
		return NULL;
	new->older = old;
	new->log = old == NULL ? SLOTS_LOG : old->log + 1;
	for (uint32_t i = 0; i < size; i++) {
		uint32_t unit = atomic_load_explicit(&old->unit[i], memory_order_relaxed);

		if (unit != 0)
			put(new, destination_of(at_unit(demand, unit)), unit);
	}
	atomic_store_explicit(&demand->slots[row], new, memory_order_release);
	return new;
}

/* Copies the entry under construction to its final position. Returns its unit; 0: out of memory. */
static uint32_t store(struct route_demand *demand)
{
	uint32_t units = (demand->bytes + UNIT_BYTES - 1) / UNIT_BYTES, unit = demand->next_unit;

	if (unit % CHUNK_UNITS + units > CHUNK_UNITS)
		unit = (unit + CHUNK_UNITS - 1) / CHUNK_UNITS * CHUNK_UNITS;
	if (unit / CHUNK_UNITS >= CHUNKS)
		return 0;
	if (demand->chunk[unit / CHUNK_UNITS] == NULL)
		demand->chunk[unit / CHUNK_UNITS] = malloc((size_t)CHUNK_UNITS * UNIT_BYTES);
	if (demand->chunk[unit / CHUNK_UNITS] == NULL)
		return 0;
	memcpy((uint8_t *)at_unit(demand, unit), demand->entry, demand->bytes);
	demand->next_unit = unit + units;
	return unit;
}

static const uint8_t *make(struct route_demand *demand, uint32_t source, uint32_t destination)
{
	struct error error = {""};
	const uint16_t key = (uint16_t)destination;
	struct slots *slots = with_room(demand, demand->row_of[source]);
	uint32_t unit;

	if (slots == NULL)
		return NULL;
	memcpy(demand->entry, &key, sizeof(key));
	demand->entry[sizeof(key)] = 0;
	demand->bytes = sizeof(key) + 1;
	demand->source = source;
	if (demand->maker->add(
		    demand->maker, demand->scratch, demand->set, source, destination, &error) < 0) {
		if (!atomic_load(&demand->failed))
			demand->error = error;
		return NULL;
	}
	unit = store(demand);
	if (unit == 0)
		return NULL;
	put(slots, destination, unit);
	return at_unit(demand, unit) + sizeof(key);
}

/* Searches again under the lock, because another thread may have added the entry. */
static __attribute__((noinline)) const uint8_t *make_once(
	struct route_demand *demand, uint32_t source, uint32_t destination)
{
	const uint8_t *entry;

	pthread_mutex_lock(&demand->lock);
	entry = find(demand,
		atomic_load_explicit(&demand->slots[demand->row_of[source]], memory_order_relaxed),
		destination);
	if (entry == NULL)
		entry = make(demand, source, destination);
	if (entry == NULL)
		atomic_store(&demand->failed, true);
	pthread_mutex_unlock(&demand->lock);
	return entry;
}

/* --- */

const uint8_t *route_demand_entry(
	struct route_demand *demand, uint32_t source, uint32_t destination)
{
	const uint8_t *entry = find(demand,
		atomic_load_explicit(&demand->slots[demand->row_of[source]], memory_order_acquire),
		destination);

	return __builtin_expect(entry != NULL, 1) ? entry : make_once(demand, source, destination);
}

bool route_demand_failed(const struct route_demand *demand)
{
	return atomic_load(&demand->failed);
}

const char *route_demand_fault(const struct route_demand *demand)
{
	return demand->error.text;
}

int route_demand_add(struct route_demand *demand, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	uint8_t *count = &demand->entry[sizeof(uint16_t)];

	if (source != demand->source || destination != destination_of(demand->entry))
		return -EINVAL;
	if (*count == ROUTE_ALTERNATIVES_MAX)
		return -ENOSPC;
	(*count)++;
	demand->entry[demand->bytes++] = (uint8_t)length;
	memcpy(demand->entry + demand->bytes, route, length);
	demand->bytes += length;
	return 0;
}

void route_demand_sum(const struct route_demand *demand, uint64_t *sum)
{
	const struct route_graph *graph = demand->graph;
	const struct route_maker *maker = demand->maker;

	for (uint32_t from = 0; from < graph->switches; from++) {
		uint64_t all = 0;

		if (route_graph_hosts_at(graph, from) == 0)
			continue;
		for (uint32_t to = 0; to < graph->switches; to++)
			if (route_graph_hosts_at(graph, to) > 0)
				all += (uint64_t)route_graph_hosts_at(graph, to) *
				       maker->elements(maker, from, to);
		all -= maker->elements(maker, from, from);
		for (uint32_t i = graph->first_host[from]; i < graph->first_host[from + 1]; i++)
			sum[graph->host_of[i]] += all;
	}
}

/* --- creation and destruction --- */

static bool number_rows(struct route_demand *demand)
{
	const struct route_maker *maker = demand->maker;

	demand->row_of = calloc(demand->graph->hosts + 1u, sizeof(*demand->row_of));
	if (demand->row_of == NULL)
		return false;
	for (uint32_t host = 0; host < demand->graph->hosts; host++) {
		uint32_t row = maker->row != NULL ? maker->row(maker, host) : host;

		demand->row_of[host] = row;
		demand->rows = row + 1 > demand->rows ? row + 1 : demand->rows;
	}
	demand->slots = calloc(demand->rows + 1u, sizeof(*demand->slots));
	return demand->slots != NULL;
}

static void free_rows(struct route_demand *demand)
{
	for (uint32_t row = 0; demand->slots != NULL && row < demand->rows; row++)
		for (struct slots *slots = demand->slots[row], *older; slots != NULL;
			slots = older) {
			older = slots->older;
			free(slots);
		}
	free(demand->slots);
	for (uint32_t i = 0; demand->chunk != NULL && i < CHUNKS && demand->chunk[i] != NULL; i++)
		free(demand->chunk[i]);
	free(demand->chunk);
	free(demand->row_of);
}

struct route_demand *route_demand_create(struct route_set *set, struct route_maker *maker,
	struct route_graph *graph, struct route_options *options)
{
	struct route_demand *demand = calloc(1, sizeof(*demand));

	if (demand == NULL)
		return NULL;
	demand->set = set;
	demand->maker = maker;
	demand->graph = graph;
	demand->next_unit = 1;
	demand->chunk = calloc(CHUNKS, sizeof(*demand->chunk));
	if (!number_rows(demand) || demand->chunk == NULL ||
		(maker->scratch_create != NULL &&
			(demand->scratch = maker->scratch_create(maker)) == NULL)) {
		free_rows(demand);
		free(demand);
		errno = ENOMEM;
		return NULL;
	}
	demand->options = options;
	pthread_mutex_init(&demand->lock, NULL);
	return demand;
}

void route_demand_destroy(struct route_demand *demand)
{
	if (demand == NULL)
		return;
	if (demand->scratch != NULL)
		demand->maker->scratch_destroy(demand->scratch);
	demand->maker->destroy(demand->maker);
	route_graph_destroy(demand->graph);
	free(demand->options);
	free_rows(demand);
	pthread_mutex_destroy(&demand->lock);
	free(demand);
}
