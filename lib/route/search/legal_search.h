/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shortest legal routes under an up/down labelling of the arcs: no up arc after a down arc. Works
 * for any labelling; with every arc labelled down it finds plain shortest routes.
 *
 * One search covers all sources towards one destination switch: breadth-first backwards over the
 * states (switch, may still go up or not), counting routes on the way. Routes of a source are then
 * identified by rank 0 .. count - 1, so a uniformly random one, or several different ones, can be
 * drawn without listing them.
 *
 * A search object belongs to one thread; graph and labels are only read. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/route_graph.h"

/* Counts are limited to this. Beyond it, ranks no longer cover every route but are still
 * distinct. */
#define LEGAL_ROUTES_COUNT_MAX ((uint64_t)1 << 56)

struct legal_search;

/* 'up' has a label for each arc. Returns NULL with errno ENOMEM if out of memory. */
struct legal_search *legal_search_create(const struct route_graph *graph, const bool *up);
/* The same with in-transit buffers: an up arc may follow a down arc at a switch that has hosts,
 * because one of them absorbs the message there. */
struct legal_search *legal_search_create_itb(const struct route_graph *graph, const bool *up);
/* A copy of the results of the last search, in less memory; any thread may read it. Returns NULL
 * with errno ENOMEM if out of memory. */
struct legal_search *legal_search_copy(const struct legal_search *search);
size_t legal_search_copy_bytes(const struct route_graph *graph);
void legal_search_destroy(struct legal_search *search);

/* Searches from all switches towards this one. Results for another destination are discarded. */
void legal_search_run(struct legal_search *search, uint32_t destination);

/* Results of the last search: the number of shortest legal routes from the switch, 0 if none, and
 * the number of links between switches on each. */
uint64_t legal_search_count(const struct legal_search *search, uint32_t source);
unsigned legal_search_links(const struct legal_search *search, uint32_t source);

/* Writes the arcs of route 'rank' < count, as many as links. */
void legal_search_arcs(
	const struct legal_search *search, uint32_t source, uint64_t rank, uint32_t *arcs);
