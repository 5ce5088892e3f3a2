/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cycle_break.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topology.h"

struct places {
	uint32_t *place;
	uint32_t count;
};

struct acyclic {
	const struct route_graph *graph;
	unsigned words;               /* 64-bit words per switch */
	uint64_t *accepted, *refused; /* by arc and word: bit i is arc i of the switch at its end */
	uint32_t *place;              /* by arc: its position in the order */
	uint32_t *arc_at;             /* by position */
	uint32_t *seen;               /* by arc: number of the last search that visited it */
	uint32_t search;
	struct places ahead, behind; /* results of the searches, which also serve as their queues */
	uint32_t *pool;              /* positions of both */
	struct arrays arrays;
};

struct acyclic *acyclic_create(const struct route_graph *graph)
{
	struct acyclic *acyclic = calloc(1, sizeof(*acyclic));
	size_t arcs = graph->arcs + 1u;

	if (acyclic == NULL)
		return NULL;
	acyclic->graph = graph;
	acyclic->words = topology_port_words(graph->topology);
	ARRAYS_ADD(acyclic, accepted, arcs * acyclic->words);
	ARRAYS_ADD(acyclic, refused, arcs * acyclic->words);
	ARRAYS_ADD(acyclic, place, arcs);
	ARRAYS_ADD(acyclic, arc_at, arcs);
	ARRAYS_ADD(acyclic, seen, arcs);
	acyclic->ahead.place = arrays_add(&acyclic->arrays, arcs, sizeof(uint32_t));
	acyclic->behind.place = arrays_add(&acyclic->arrays, arcs, sizeof(uint32_t));
	ARRAYS_ADD(acyclic, pool, arcs);
	if (acyclic->arrays.failed) {
		acyclic_destroy(acyclic);
		errno = ENOMEM;
		return NULL;
	}
	for (uint32_t arc = 0; arc < graph->arcs; arc++)
		acyclic->place[arc] = acyclic->arc_at[arc] = arc;
	return acyclic;
}

void acyclic_destroy(struct acyclic *acyclic)
{
	ARRAYS_DESTROY(acyclic);
}

static uint64_t bit_of(const struct acyclic *acyclic, uint32_t before, uint32_t after, size_t *word)
{
	uint32_t i = after - acyclic->graph->first_arc[acyclic->graph->arc[before].to];

	*word = (size_t)before * acyclic->words + i / 64;
	return (uint64_t)1 << i % 64;
}

static bool is_accepted(const struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	size_t word;
	uint64_t bit = bit_of(acyclic, before, after, &word);

	return (acyclic->accepted[word] & bit) != 0;
}

bool acyclic_agrees(const struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	return acyclic->place[before] < acyclic->place[after];
}

static void meet(struct acyclic *acyclic, struct places *found, uint32_t arc)
{
	if (acyclic->seen[arc] == acyclic->search)
		return;
	acyclic->seen[arc] = acyclic->search;
	found->place[found->count++] = acyclic->place[arc];
}

/* Visits the arcs of a word that precede 'before'. Returns false if the word contains 'before'. */
static bool look_at(struct acyclic *acyclic, uint64_t left, uint32_t first, uint32_t before)
{
	for (; left != 0; left &= left - 1) {
		uint32_t next = first + (uint32_t)__builtin_ctzll(left);

		if (next == before)
			return false;
		if (acyclic->place[next] < acyclic->place[before])
			meet(acyclic, &acyclic->ahead, next);
	}
	return true;
}

/* Finds everything that depends on 'after', including 'after', up to the position of 'before'.
 * Returns false if this includes 'before'. */
static bool look_ahead(struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	const struct route_graph *graph = acyclic->graph;
	struct places *found = &acyclic->ahead;

	acyclic->search++;
	found->count = 0;
	meet(acyclic, found, after);
	for (uint32_t i = 0; i < found->count; i++) {
		uint32_t arc = acyclic->arc_at[found->place[i]];
		uint32_t first = graph->first_arc[graph->arc[arc].to];

		for (unsigned word = 0; word < acyclic->words; word++, first += 64)
			if (!look_at(acyclic,
				    acyclic->accepted[(size_t)arc * acyclic->words + word], first,
				    before))
				return false;
	}
	return true;
}

/* Finds everything that 'before' depends on, including itself, down to the position of 'after'. */
static void look_behind(struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	const struct route_graph *graph = acyclic->graph;
	struct places *found = &acyclic->behind;

	acyclic->search++;
	found->count = 0;
	meet(acyclic, found, before);
	for (uint32_t i = 0; i < found->count; i++) {
		uint32_t arc = acyclic->arc_at[found->place[i]];
		uint32_t at = graph->arc[graph->arc[arc].back].to;

		for (uint32_t out = graph->first_arc[at]; out < graph->first_arc[at + 1]; out++) {
			uint32_t in = graph->arc[out].back;

			if (is_accepted(acyclic, in, arc) &&
				acyclic->place[in] > acyclic->place[after])
				meet(acyclic, found, in);
		}
	}
}

static int compare_places(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

/* Moves the arcs in 'behind' before those in 'ahead', within the positions that both occupy; keeps
 * the order in each. */
static void change_places(struct acyclic *acyclic)
{
	struct places *behind = &acyclic->behind, *ahead = &acyclic->ahead;
	uint32_t count = behind->count + ahead->count;

	qsort(behind->place, behind->count, sizeof(uint32_t), compare_places);
	qsort(ahead->place, ahead->count, sizeof(uint32_t), compare_places);
	memcpy(acyclic->pool, behind->place, behind->count * sizeof(uint32_t));
	memcpy(acyclic->pool + behind->count, ahead->place, ahead->count * sizeof(uint32_t));
	for (uint32_t i = 0; i < behind->count; i++) /* converts the lists from positions to arcs */
		behind->place[i] = acyclic->arc_at[behind->place[i]];
	for (uint32_t i = 0; i < ahead->count; i++)
		ahead->place[i] = acyclic->arc_at[ahead->place[i]];
	qsort(acyclic->pool, count, sizeof(uint32_t), compare_places);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t arc =
			i < behind->count ? behind->place[i] : ahead->place[i - behind->count];

		acyclic->place[arc] = acyclic->pool[i];
		acyclic->arc_at[acyclic->pool[i]] = arc;
	}
}

bool acyclic_allows(struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	size_t word;
	uint64_t bit = bit_of(acyclic, before, after, &word);

	if ((acyclic->accepted[word] & bit) != 0)
		return true;
	if ((acyclic->refused[word] & bit) == 0 &&
		(acyclic_agrees(acyclic, before, after) || look_ahead(acyclic, before, after)))
		return true;
	acyclic->refused[word] |= bit;
	return false;
}

bool acyclic_add(struct acyclic *acyclic, uint32_t before, uint32_t after)
{
	size_t word;
	uint64_t bit = bit_of(acyclic, before, after, &word);

	if (!acyclic_allows(acyclic, before, after))
		return false;
	if (!acyclic_agrees(acyclic, before, after)) {
		look_behind(acyclic, before, after);
		change_places(acyclic);
	}
	acyclic->accepted[word] |= bit;
	return true;
}
