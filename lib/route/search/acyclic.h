/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Channel dependencies that are accepted one by one as long as they close no cycle. A channel is an
 * arc of a route_graph; a dependency leads from an arc to one that leaves the switch where it ends.
 *
 * A topological order of all arcs is kept up to date (Pearce and Kelly, A dynamic topological sort
 * algorithm for directed acyclic graphs, ACM JEA 11, 2006): a dependency that agrees with the order
 * costs one comparison; another one makes the arcs between its two places that are connected with
 * them change places, or is refused because the way back exists. Since dependencies are never taken
 * back, what was refused once is refused for ever, and both answers are remembered.
 *
 * The dependencies through an ITB's host need no place here: the channel into the host leads to no
 * other, because the host absorbs whatever comes, and none leads to the channel out of it. Neither
 * can be part of a cycle.
 */

#include <stdbool.h>
#include <stdint.h>

#include "route_graph.h"

struct acyclic;

/* Without dependencies. The graph outlives it. NULL with errno ENOMEM. */
struct acyclic *acyclic_create(const struct route_graph *graph);
void acyclic_destroy(struct acyclic *acyclic);

/* Accepts the dependency 'before' -> 'after' (again) and returns true, or returns false because it
 * would close a cycle with those accepted. 'after' leaves the switch where 'before' ends. */
bool acyclic_add(struct acyclic *acyclic, uint32_t before, uint32_t after);

/* True if the present order has 'before' first. Any number of such dependencies can be accepted
 * together. */
bool acyclic_agrees(const struct acyclic *acyclic, uint32_t before, uint32_t after);
