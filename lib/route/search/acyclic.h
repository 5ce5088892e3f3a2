/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Channel dependencies that are accepted one by one unless they close a cycle. A channel is an arc
 * of a route_graph; a dependency leads from an arc to one that leaves the switch where it ends.
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

#include <stdbool.h>
#include <stdint.h>

#include "route/route_graph.h"

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
