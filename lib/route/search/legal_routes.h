/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The common part of labelling algorithms: once the arcs are labelled, the routes of a pair are
 * drawn from its shortest legal ones. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* Shortest legal routes under an up/down labelling of the arcs: no up arc after a down arc. Works
 * for any labelling; with every arc labelled down it finds plain shortest routes.
 *
 * One search covers all sources towards one destination switch: breadth-first backwards over the
 * states (switch, may still go up or not), counting routes on the way. Routes of a source are then
 * identified by rank 0 .. count - 1, so a uniformly random one, or several different ones, can be
 * drawn without listing them.
 *
 * A search object belongs to one thread; graph and labels are only read. */

/* Counts are limited to this. Beyond it, ranks no longer cover every route but are still
 * distinct. */
#define LEGAL_ROUTES_COUNT_MAX ((uint64_t)1 << 56)

struct legal_search;

/* 'up' has a label for each arc. Returns NULL with errno ENOMEM if out of memory. */
struct legal_search *legal_search_create(const struct route_graph *graph, const bool *up);
/* The same with in-transit buffers: an up arc may follow a down arc at a switch that has hosts,
 * because one of them absorbs the message there. */
struct legal_search *legal_search_create_itb(const struct route_graph *graph, const bool *up);
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

/* Adds the routes of all pairs of hosts to 'set': options->alternatives different shortest legal
 * ones, drawn at random by options->seed (fewer or none if there are not as many). Uses
 * options->jobs threads; the result does not depend on their number. -ENOMEM; -EINVAL if a route
 * does not fit into a frame, naming the pair. */
int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct error *error);

/* The same for the labels that 'label' makes from options->root. */
int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Routes pair by pair (route_algorithm.pairs) with the labels from 'label' (NULL: no labels). Only
 * for sets with routes on demand. Not complete in large networks, where the searches to all
 * switches would need too much memory. */
int legal_routes_pairs(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_maker **maker, struct error *error);

/* A shortest path between two switches that avoids some links and goes up after down only where a
 * host can absorb the message (an in-transit buffer). Breadth-first search over the states (switch,
 * may still go up or not), forward from the source. Among the shortest paths it takes one with the
 * fewest ITBs; among equal ones the first from the arc at which the search starts at each switch.
 *
 * A search object belongs to one thread; graph and labels are only read. */

struct legal_detour;

/* 'up' has a label for each arc. Returns NULL with errno ENOMEM if out of memory. */
struct legal_detour *legal_detour_create(const struct route_graph *graph, const bool *up);
void legal_detour_destroy(struct legal_detour *detour);

/* Allows all links again. */
void legal_detour_reset(struct legal_detour *detour);
/* Forbids the link of this arc in both directions. */
void legal_detour_avoid(struct legal_detour *detour, uint32_t arc);

/* 'turn' selects the first arc at each switch. Returns false if there is no path, or it does not
 * fit into a frame. */
bool legal_detour_find(struct legal_detour *detour, uint32_t source, uint32_t destination,
	uint32_t turn, struct route_path *path);
