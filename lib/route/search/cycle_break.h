/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Cycle breaking with in-transit buffers (the thesis' sections 3.2.2 and 3.2.3, figure 49) for any
 * set of paths. The paths are processed in the given order. A dependency that would close a cycle
 * with accepted ones is replaced with an ITB. (Taken literally, figure 49 adds all dependencies
 * before it breaks any cycle. This gives three to four times as many ITBs, and cannot be what the
 * thesis measured.)
 *
 * Deadlock freedom: the remaining dependencies between switches are all accepted, and accepted
 * dependencies have no cycle (struct acyclic below, also for the channels of the hosts that
 * absorb).
 *
 * A switch without hosts cannot hold an ITB. There, all turns at a switch that does not outrank
 * both neighbours (route_root.h) are accepted in advance. They have no cycle: the highest of the
 * switches on a cycle, all without hosts, would outrank its neighbours. Together with ITBs
 * elsewhere they connect every connected pair, so a path always exists, however many dependencies
 * were accepted before. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "route/route_graph.h"
#include "route/route_path.h"

/* Channel dependencies, each of which is accepted unless it closes a cycle. Channels are the arcs
 * of a route_graph. A dependency leads from an arc to an arc that leaves the switch where the first
 * ends.
 *
 * A topological order of all arcs is maintained (Pearce and Kelly, A dynamic topological sort
 * algorithm for directed acyclic graphs, ACM JEA 11, 2006). A dependency that agrees with the order
 * costs one comparison. Any other dependency either reorders the connected arcs between its two
 * positions, or is refused because a path back exists. Dependencies are never removed, so refusals
 * are final, and both answers are cached.
 *
 * Dependencies through an ITB's host are not needed: the channel into the host leads to no other
 * channel, because the host absorbs everything, and none leads to the channel out of the host.
 * Neither channel can be part of a cycle. */

struct acyclic;

/* Creates an object that contains no dependencies yet. The graph must outlive it. Returns NULL with
 * errno ENOMEM if out of memory. */
struct acyclic *acyclic_create(const struct route_graph *graph);
void acyclic_destroy(struct acyclic *acyclic);

/* Accepts the dependency 'before' -> 'after' and returns true, or returns false if it would close a
 * cycle with accepted ones. 'after' must leave the switch where 'before' ends. */
bool acyclic_add(struct acyclic *acyclic, uint32_t before, uint32_t after);

/* Returns the result of acyclic_add() without accepting the dependency. */
bool acyclic_allows(struct acyclic *acyclic, uint32_t before, uint32_t after);

/* Returns true if 'before' precedes 'after' in the current order. Any number of such dependencies
 * can be accepted together. */
bool acyclic_agrees(const struct acyclic *acyclic, uint32_t before, uint32_t after);

struct cycle_break;

/* Creates an object whose ranks are drawn from 'seed'. The graph must outlive it. Returns NULL with
 * errno ENOMEM if out of memory. */
struct cycle_break *cycle_break_create(const struct route_graph *graph, uint64_t seed);
void cycle_break_destroy(struct cycle_break *breaker);

/* Accepts a dependency in advance. Returns false if it would close a cycle. */
bool cycle_break_allow(struct cycle_break *breaker, uint32_t before, uint32_t after);

/* Sets the ITBs of a path whose arcs and links are set. Returns false if the path would need an ITB
 * at a switch without hosts, or more ITBs than fit into a frame; some of its dependencies may then
 * have been accepted. */
bool cycle_break_path(struct cycle_break *breaker, struct route_path *path);

/* Finds and accepts a path between different switches, with the fewest links for which it fits into
 * a frame. Slow, so only for pairs whose other paths are all refused. Returns 0, -ENOMEM, or
 * -ENOENT if no path fits. */
int cycle_break_find(
	struct cycle_break *breaker, uint32_t from, uint32_t to, struct route_path *path);

/* Sets the ITBs of all paths, in this order. A path that cannot be accepted is replaced with an
 * acceptable path between the same switches. Paths of 0 links are unchanged. Returns 0, -ENOMEM, or
 * -EINVAL with an error that names two switches between which no path fits into a frame. */
int cycle_break_all(const struct route_graph *graph, uint64_t seed, struct route_path *path,
	uint64_t paths, struct error *error);
