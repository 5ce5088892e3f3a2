/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The common part of labelling algorithms: the routes of a pair are drawn from its shortest legal
 * routes under the labels of the arcs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "route/route_algorithm.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* Shortest legal routes under an up/down labelling of the arcs: no up arc after a down arc. Any
 * labelling is accepted; with every arc labelled down, the result is plain shortest routes.
 *
 * One search covers all sources of one destination switch. It proceeds breadth-first and backwards
 * over the states (switch, may still go up or not), and counts routes. Routes of a source are then
 * identified by a rank from 0 to count - 1, so one or several different routes can be drawn
 * uniformly without listing them.
 *
 * A search object belongs to one thread; it only reads graph and labels. */

/* Maximum of a count. With more routes, ranks do not cover every route but are still distinct. */
#define LEGAL_ROUTES_COUNT_MAX ((uint64_t)1 << 56)

struct legal_search;

/* 'up' contains a label for each arc. Returns NULL with errno ENOMEM if out of memory. */
struct legal_search *legal_search_create(const struct route_graph *graph, const bool *up);
/* Like legal_search_create(), with in-transit buffers: an up arc may follow a down arc at a switch
 * with hosts, one of which absorbs the message. */
struct legal_search *legal_search_create_itb(const struct route_graph *graph, const bool *up);
void legal_search_destroy(struct legal_search *search);

/* Searches from all switches towards 'destination'. Discards the results of the previous search. */
void legal_search_run(struct legal_search *search, uint32_t destination);

/* Return the results for a switch: the number of shortest legal routes to the destination, 0 if
 * none, and their length in links between switches. */
uint64_t legal_search_count(const struct legal_search *search, uint32_t source);
unsigned legal_search_links(const struct legal_search *search, uint32_t source);

/* Writes the arcs of route 'rank', which must be below the count. */
void legal_search_arcs(
	const struct legal_search *search, uint32_t source, uint64_t rank, uint32_t *arcs);

/* Adds the routes of all pairs of hosts to 'set': options->alternatives different shortest legal
 * ones, drawn at random from options->seed, or all if there are fewer. Uses options->jobs threads;
 * the result does not depend on their number. Returns 0, -ENOMEM, or -EINVAL with an error that
 * names a pair whose route does not fit into a frame. */
int legal_routes_fill(const struct route_graph *graph, const bool *up,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Like legal_routes_fill(), with the labels that 'label' computes for options->root. */
int legal_routes_of_labels(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

/* Implements route_algorithm.pairs with the labels of 'label' (NULL: no labels), for sets with
 * routes on demand. The maker is not complete in large networks, where the searches to all switches
 * would need too much memory. */
int legal_routes_pairs(route_label_fn label, const struct route_graph *graph,
	const struct route_options *options, struct route_maker **maker, struct error *error);

/* A shortest path between two switches that avoids some links and goes up after down only where a
 * host can absorb the message (an in-transit buffer). Breadth-first search over the states (switch,
 * may still go up or not), forward from the source. Among the shortest paths it selects one with
 * the fewest ITBs; ties go to the first, counted from the arc at which the search starts at each
 * switch.
 *
 * A search object belongs to one thread; it only reads graph and labels. */

struct legal_detour;

/* 'up' contains a label for each arc. Returns NULL with errno ENOMEM if out of memory. */
struct legal_detour *legal_detour_create(const struct route_graph *graph, const bool *up);
void legal_detour_destroy(struct legal_detour *detour);

/* Allows all links again. */
void legal_detour_reset(struct legal_detour *detour);
/* Forbids the link of this arc in both directions. */
void legal_detour_avoid(struct legal_detour *detour, uint32_t arc);

/* Finds a path. 'turn' selects the first arc to try at each switch. Returns false if there is no
 * path, or it does not fit into a frame. */
bool legal_detour_find(struct legal_detour *detour, uint32_t source, uint32_t destination,
	uint32_t turn, struct route_path *path);
