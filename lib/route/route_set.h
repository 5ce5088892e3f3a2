/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Source routes: for every ordered pair of hosts up to ROUTE_ALTERNATIVES_MAX routes in order of
 * preference, each the byte string of wire elements in a frame (lib/wire/frame.h): ROUTE_PORT_BIT |
 * port for every switch traversed, ROUTE_TYPE_STEP before a port where a step of a multi-step path
 * starts, ROUTE_TYPE_ITB where a host absorbs and re-injects the message, ROUTE_TYPE_HOST at the
 * end.
 *
 * The routes to one destination are in one growing block of bytes (4 bytes and the routes for each
 * pair), so threads may add routes to different destinations concurrently. Any thread may read once
 * additions are complete.
 *
 * A set may also make routes on demand (route_algorithm.h): it has a route for every pair, and
 * computes a pair's routes when they are first read. Any thread may read. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "queuing/vc_rule.h"
#include "topo/topology.h"
#include "wire/frame.h"

#define ROUTE_ALTERNATIVES_MAX 10
#define ROUTE_ELEMENTS_MAX     FRAME_ROUTE_MAX
#define ROUTE_LABEL_MAX        64

/* Origin of a set; stored in route files. */
struct route_origin {
	char topology[ROUTE_LABEL_MAX];
	char algorithm[ROUTE_LABEL_MAX];
	char root[ROUTE_LABEL_MAX]; /* switch; empty if the algorithm has no root */
	uint64_t seed;
};

struct route_set;

/* Creates a set without routes. Returns NULL with errno ENOMEM if out of memory. */
struct route_set *route_set_create(uint32_t hosts);
void route_set_destroy(struct route_set *set);

struct route_origin *route_set_origin(struct route_set *set);
const struct route_origin *route_set_origin_const(const struct route_set *set);
uint32_t route_set_hosts(const struct route_set *set);

/* Sets the VC classes that the routes need: NULL, the initial value, if one is enough. The set
 * becomes the owner of the rule. */
void route_set_use_vc_rule(struct route_set *set, struct vc_rule *rule);
const struct vc_rule *route_set_vc_rule(const struct route_set *set);

/* For algorithms that know a bound: the sum of largest and mean load is at most this fraction above
 * the optimum. Kept in memory only. Negative, the initial value: unknown. */
void route_set_note_excess(struct route_set *set, double excess);
double route_set_excess(const struct route_set *set);

/* From now on the routes are made on demand. The set must be empty; it becomes the owner. */
struct route_demand;
void route_set_use_demand(struct route_set *set, struct route_demand *demand);
bool route_set_is_on_demand(const struct route_set *set);
/* True if the routes of some pair could not be computed, so that the pair appeared to have none. */
bool route_set_failed(const struct route_set *set);
/* The first error, to be read while no thread requests routes; "" if memory ran out or there was no
 * error. */
const char *route_set_fault(const struct route_set *set);

/* Adds a copy of a route to the pair's routes. Fails with -EINVAL: hosts out of range or equal,
 * length 0 or above ROUTE_ELEMENTS_MAX; -ENOSPC: the pair has ROUTE_ALTERNATIVES_MAX already. May
 * return -ENOMEM. */
int route_set_add(struct route_set *set, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* The routes of the pair, for callers that need several of them; NULL if there is none. The set
 * owns the bytes: the number of routes, and for each its length and its elements. */
const uint8_t *route_set_pair(const struct route_set *set, uint32_t source, uint32_t destination);

static inline unsigned route_pair_count(const uint8_t *pair)
{
	return pair == NULL ? 0 : pair[0];
}

/* As route_set_get(). */
static inline const uint8_t *route_pair_get(const uint8_t *pair, unsigned i, unsigned *length)
{
	if (i >= route_pair_count(pair))
		return NULL;
	for (pair++; i > 0; i--)
		pair += 1 + pair[0];
	*length = pair[0];
	return pair + 1;
}

/* Number of routes of the pair. */
unsigned route_set_count(const struct route_set *set, uint32_t source, uint32_t destination);

/* Route i of the pair and its length; NULL if there is no such route. The set owns the bytes. */
const uint8_t *route_set_get(const struct route_set *set, uint32_t source, uint32_t destination,
	unsigned i, unsigned *length);

/* True if 'route' is a pointer to one of the set's routes to the destination. */
bool route_set_owns(const struct route_set *set, uint32_t destination, const uint8_t *route);

/* For every source host, adds to sum[source] the lengths of its first routes to all other hosts.
 * Computes no routes. */
void route_set_add_lengths(const struct route_set *set, uint64_t *sum);

/* Elements of the longest route; FRAME_ROUTE_USUAL for routes on demand, which are never longer. */
unsigned route_set_longest(const struct route_set *set);

/* The sets from which a set was merged (route_algorithm.h): bit k of a route's parts means that the
 * k-th set has the route. Kept in memory only, not in files. Fails with -EINVAL: no such route;
 * -ENOMEM. */
int route_set_mark_parts(
	struct route_set *set, uint32_t source, uint32_t destination, unsigned i, uint8_t parts);
/* The parts of a host's routes, [destination][route], ROUTE_ALTERNATIVES_MAX per destination; 0
 * without a route. Returns NULL if none was ever marked. The set owns them. */
const uint8_t *route_set_parts(const struct route_set *set, uint32_t source);

/* Packs all routes to one destination into one block: for each source host the number of its
 * routes, each with its length and its elements, a byte each. Returns the number of bytes, and
 * writes them unless 'out' is NULL. */
size_t route_set_pack(const struct route_set *set, uint32_t destination, uint8_t *out);
/* Unpacks such a block into a set without routes to this destination. -EINVAL for an invalid block,
 * with the first bad byte in '*where'; -ENOMEM. */
int route_set_unpack(struct route_set *set, uint32_t destination, const uint8_t *block,
	size_t bytes, size_t *where);

/* Returns 0 if every ordered pair of different hosts has a route; otherwise -EINVAL with error set,
 * which names the first pair without one and the number of others. */
int route_set_check_connected(
	const struct route_set *set, const struct topology *topology, struct error *error);

/* Runs an algorithm in several threads. Jobs that split by destination may fill one route_set
 * together (route_set.h); the result must not depend on the number of jobs. */

/* Part 'job' of 'jobs', such as every jobs-th destination switch. Returns 0 or a negative code with
 * error set. */
typedef int (*route_job_fn)(void *context, unsigned job, unsigned jobs, struct error *error);

/* Runs all parts, one of them in the caller's thread; 'jobs' of 0 means 1. Returns the first part's
 * error, or 0. Parts for which no thread can be created run in the caller's. May return -ENOMEM. */
int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct error *error);
