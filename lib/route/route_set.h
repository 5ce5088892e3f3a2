/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Source routes: for every ordered pair of hosts up to ROUTE_ALTERNATIVES_MAX routes in order of
 * preference. Each route is the byte string of wire elements in a frame (lib/wire/frame.h):
 * ROUTE_PORT_BIT | port for every switch traversed, ROUTE_TYPE_STEP before a port where a step of a
 * multi-step path starts, ROUTE_TYPE_ITB where a host absorbs and re-injects the message, and
 * ROUTE_TYPE_HOST at the end.
 *
 * The routes to a destination are stored in one growing block (4 bytes and the routes for each
 * pair), so threads may add routes to different destinations concurrently. Any thread may read
 * after all additions.
 *
 * A set may also compute routes on demand (route_algorithm.h). It then has a route for every pair,
 * and computes a pair's routes when they are first read. Any thread may read. */

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

/* Origin of a set, stored in route files. */
struct route_origin {
	char topology[ROUTE_LABEL_MAX];
	char algorithm[ROUTE_LABEL_MAX];
	char root[ROUTE_LABEL_MAX]; /* a switch; "": the algorithm has no root */
	uint64_t seed;
};

struct route_set;

/* Creates an empty set. Returns NULL with errno ENOMEM if out of memory. */
struct route_set *route_set_create(uint32_t hosts);
void route_set_destroy(struct route_set *set);

struct route_origin *route_set_origin(struct route_set *set);
const struct route_origin *route_set_origin_const(const struct route_set *set);
uint32_t route_set_hosts(const struct route_set *set);

/* Sets the VC rule that the routes need, and takes ownership. Initially NULL: one class suffices.
 */
void route_set_use_vc_rule(struct route_set *set, struct vc_rule *rule);
const struct vc_rule *route_set_vc_rule(const struct route_set *set);

/* Stores a bound, if the algorithm has one: the sum of largest and mean load exceeds the optimum by
 * at most this fraction. Not stored in files. Initially negative: unknown. */
void route_set_note_excess(struct route_set *set, double excess);
double route_set_excess(const struct route_set *set);

/* Makes the set compute its routes on demand, and takes ownership. The set must be empty. */
struct route_demand;
void route_set_use_demand(struct route_set *set, struct route_demand *demand);
bool route_set_is_on_demand(const struct route_set *set);
/* Returns true if the routes of some pair could not be computed; the pair appears unconnected. */
bool route_set_failed(const struct route_set *set);
/* Returns the first error; "" if there was none, or if out of memory. Must not run while a thread
 * requests routes. */
const char *route_set_fault(const struct route_set *set);

/* Adds a copy of a route to the pair's routes. Returns 0, -ENOMEM, -EINVAL (hosts out of range or
 * equal, length 0 or above ROUTE_ELEMENTS_MAX), or -ENOSPC if the pair already has
 * ROUTE_ALTERNATIVES_MAX routes. */
int route_set_add(struct route_set *set, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* Returns all routes of the pair: their number, and for each its length and elements; NULL if there
 * is none. The set owns the bytes. */
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

/* Returns the number of routes of the pair. */
unsigned route_set_count(const struct route_set *set, uint32_t source, uint32_t destination);

/* Returns route i of the pair and its length; NULL: no such route. The set owns the bytes. */
const uint8_t *route_set_get(const struct route_set *set, uint32_t source, uint32_t destination,
	unsigned i, unsigned *length);

/* Returns true if 'route' points to one of the set's routes to the destination. */
bool route_set_owns(const struct route_set *set, uint32_t destination, const uint8_t *route);

/* Adds to sum[source], for each source host, the lengths of its first routes to all other hosts.
 * Computes no routes. */
void route_set_add_lengths(const struct route_set *set, uint64_t *sum);

/* Returns the number of elements of the longest route; FRAME_ROUTE_USUAL, an upper bound, for
 * routes on demand. */
unsigned route_set_longest(const struct route_set *set);

/* Marks the sets from which a set was merged (route_algorithm.h): bit k of 'parts' means that set k
 * contains the route. Not stored in files. Returns 0, -ENOMEM, or -EINVAL: no such route. */
int route_set_mark_parts(
	struct route_set *set, uint32_t source, uint32_t destination, unsigned i, uint8_t parts);
/* Returns the parts of a host's routes, [destination][route], ROUTE_ALTERNATIVES_MAX per
 * destination; 0: no route. Returns NULL if no route was ever marked. The set owns the array. */
const uint8_t *route_set_parts(const struct route_set *set, uint32_t source);

/* Packs all routes to one destination into one block: for each source host the number of its
 * routes, then their lengths and elements, one byte each. Returns the number of bytes. Writes
 * nothing if 'out' is NULL. */
size_t route_set_pack(const struct route_set *set, uint32_t destination, uint8_t *out);
/* Unpacks such a block into a set without routes to this destination. Returns 0, -ENOMEM, or
 * -EINVAL for an invalid block, with the offset of the first bad byte in '*where'. */
int route_set_unpack(struct route_set *set, uint32_t destination, const uint8_t *block,
	size_t bytes, size_t *where);

/* Returns 0 if every ordered pair of different hosts has a route; otherwise -EINVAL with an error
 * that names the first pair without a route and the number of such pairs. */
int route_set_check_connected(
	const struct route_set *set, const struct topology *topology, struct error *error);

/* Runs an algorithm in several threads. Jobs that are split by destination may fill one route_set
 * concurrently. The result must not depend on the number of jobs. */

/* Runs part 'job' of 'jobs', such as every jobs-th destination switch. Returns 0 or a negative code
 * with error set. */
typedef int (*route_job_fn)(void *context, unsigned job, unsigned jobs, struct error *error);

/* Runs all parts, one of them in the calling thread, and any other part for which no thread can be
 * created. 'jobs' 0 means 1. Returns 0, -ENOMEM, or the error of the first part that failed. */
int route_jobs_run(unsigned jobs, route_job_fn run, void *context, struct error *error);
