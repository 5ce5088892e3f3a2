/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Routes on demand: a route_set that computes the routes of a pair on first use, and keeps them.
 * Time and memory depend on the pairs that communicate, not on all pairs: 11,664 hosts have 136
 * million.
 *
 * Any thread may read at any time. A known pair takes no lock: each row of hosts with the same
 * routes has a hash table of destinations that only grows, and entries never move. A new pair takes
 * the lock of the set and, from time to time, allocates memory. */

#include <stdint.h>

#include "route_algorithm.h"

struct route_demand;

/* For the set that 'maker' fills. Takes ownership of maker, options and graph, which were allocated
 * for it, unless it returns NULL with errno ENOMEM if out of memory. */
struct route_demand *route_demand_create(struct route_set *set, struct route_maker *maker,
	struct route_graph *graph, struct route_options *options);
void route_demand_destroy(struct route_demand *demand);

/* The entry of two different hosts: a count byte, and for each route a length byte and its
 * elements. Returns NULL if it could not be made; route_demand_failed() is true from then on. */
const uint8_t *route_demand_entry(
	struct route_demand *demand, uint32_t source, uint32_t destination);
bool route_demand_failed(const struct route_demand *demand);
/* The first error, to be read while no thread requests routes; "" if memory ran out or there was no
 * error. */
const char *route_demand_fault(const struct route_demand *demand);

/* Appends a route to the entry under construction; for route_set_add(). Returns -EINVAL if it
 * belongs to another pair; -ENOSPC. */
int route_demand_add(struct route_demand *demand, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* For every source host, adds to sum[source] the lengths of its first routes to all other hosts. */
void route_demand_sum(const struct route_demand *demand, uint64_t *sum);
