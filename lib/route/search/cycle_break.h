/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Cycle breaking with in-transit buffers (the thesis' sections 3.2.2 and 3.2.3, figure 49) for any
 * set of paths: path by path, in the given order, a dependency that would close a cycle with
 * accepted ones is replaced by an ITB. (Taken literally, figure 49 adds all dependencies before it
 * breaks any, which gives three to four times the ITBs and cannot be what the thesis measured.)
 *
 * Deadlock freedom: the remaining dependencies between switches are accepted ones, and those have
 * no cycle (cycle_break.h, also for the channels of the hosts that absorb).
 *
 * A switch without hosts cannot hold an ITB. There, all turns that do not outrank both neighbours
 * (route_root.h) are accepted in advance. They have no cycle: the highest of the switches on a
 * cycle, all without hosts, would outrank its neighbours. Together with ITBs elsewhere they connect
 * every connected pair, so a path can always be found, however many were accepted before. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* Channel dependencies that are accepted one by one unless they close a cycle. Channels are the
 * arcs in a route_graph. A dependency leads from an arc to one that leaves the switch where it
 * ends.
 *
 * A topological order of all arcs is maintained (Pearce and Kelly, A dynamic topological sort
 * algorithm for directed acyclic graphs, ACM JEA 11, 2006). A dependency that agrees with the order
 * costs one comparison; any other reorders the arcs between its two places that are connected with
 * them, or is refused because a path back exists. Dependencies are never removed, so refusals are
 * final, and both answers are cached.
 *
 * Dependencies through an ITB's host are not needed here: the channel into the host leads to no
 * other, because the host absorbs everything, and none leads to the channel out of it. Neither can
 * be part of a cycle. */

struct acyclic;

/* Starts without dependencies. The graph outlives it. Returns NULL with errno ENOMEM if out of
 * memory. */
struct acyclic *acyclic_create(const struct route_graph *graph);
void acyclic_destroy(struct acyclic *acyclic);

/* Accepts the dependency 'before' -> 'after' and returns true, or returns false if it would close a
 * cycle with accepted ones. 'after' leaves the switch where 'before' ends. */
bool acyclic_add(struct acyclic *acyclic, uint32_t before, uint32_t after);

/* Returns what acyclic_add() would return, without accepting anything. */
bool acyclic_allows(struct acyclic *acyclic, uint32_t before, uint32_t after);

/* True if the current order has 'before' first. Any number of such dependencies can be accepted
 * together. */
bool acyclic_agrees(const struct acyclic *acyclic, uint32_t before, uint32_t after);

struct cycle_break;

/* 'seed' draws the ranks. The graph outlives it. Returns NULL with errno ENOMEM if out of
 * memory. */
struct cycle_break *cycle_break_create(const struct route_graph *graph, uint64_t seed);
void cycle_break_destroy(struct cycle_break *breaker);

/* Accepts a dependency in advance; returns false if it would close a cycle. */
bool cycle_break_allow(struct cycle_break *breaker, uint32_t before, uint32_t after);

/* Sets the ITBs of the path (arcs and links are set) and returns true. Returns false if the path
 * would need one at a switch without hosts, or more than fit into a frame; some of its dependencies
 * may then have been accepted. */
bool cycle_break_path(struct cycle_break *breaker, struct route_path *path);

/* Finds and accepts a path between different switches, with the fewest links for which it fits into
 * a frame. Slow: for pairs whose other paths are all refused. Returns -ENOENT if none fits. */
int cycle_break_find(
	struct cycle_break *breaker, uint32_t from, uint32_t to, struct route_path *path);

/* Sets the ITBs of all paths, in this order; replaces one that cannot be accepted by one that can,
 * between the same switches. Paths of 0 links are unchanged. -ENOMEM; -EINVAL if no path between
 * two switches fits into a frame, naming them. */
int cycle_break_all(const struct route_graph *graph, uint64_t seed, struct route_path *path,
	uint64_t paths, struct error *error);
