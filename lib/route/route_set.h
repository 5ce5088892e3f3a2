/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Source routes: for every ordered pair of hosts up to ROUTE_ALTERNATIVES_MAX routes in order of
 * preference, each the byte string of wire elements that goes into the frame (lib/wire/frame.h):
 * ROUTE_PORT_BIT | port for every switch traversed, ROUTE_TYPE_ITB where a host absorbs the message
 * and re-injects it, ROUTE_TYPE_HOST at the end.
 *
 * The routes to one destination lie in one growing block of bytes (4 bytes and the routes for each
 * pair), so different threads may add routes to different destinations. Reading is for any thread
 * once nobody adds.
 */

#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "frame.h"
#include "topology.h"
#include "vc_rule.h"

#define ROUTE_ALTERNATIVES_MAX 10
#define ROUTE_ELEMENTS_MAX     FRAME_ROUTE_MAX
#define ROUTE_LABEL_MAX        64

/* Where a set comes from; stored in route files. */
struct route_origin {
	char topology[ROUTE_LABEL_MAX];
	char algorithm[ROUTE_LABEL_MAX];
	char root[ROUTE_LABEL_MAX]; /* switch; empty where the algorithm has none */
	uint64_t seed;
};

struct route_set;

/* Without any route. NULL with errno ENOMEM. */
struct route_set *route_set_create(uint32_t hosts);
void route_set_destroy(struct route_set *set);

struct route_origin *route_set_origin(struct route_set *set);
const struct route_origin *route_set_origin_const(const struct route_set *set);
uint32_t route_set_hosts(const struct route_set *set);

/* The VC classes that the routes are meant for: NULL, as at first, where they need only one. The
 * set becomes the owner of the rule. */
void route_set_use_vc_rule(struct route_set *set, struct vc_rule *rule);
const struct vc_rule *route_set_vc_rule(const struct route_set *set);

/* Appends a route to those of the pair; copies it. -EINVAL: hosts out of range or equal, length 0
 * or above ROUTE_ELEMENTS_MAX. -ENOSPC: the pair has ROUTE_ALTERNATIVES_MAX already. -ENOMEM. */
int route_set_add(struct route_set *set, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* Routes of the pair; 0 if it has none. */
unsigned route_set_count(const struct route_set *set, uint32_t source, uint32_t destination);

/* Route i of the pair and its length; NULL if there is no such route. The bytes are the set's. */
const uint8_t *route_set_get(const struct route_set *set, uint32_t source, uint32_t destination,
	unsigned i, unsigned *length);

/* Sets that a set was merged from (route_merge.h): bit k of a route's parts says that the k-th has
 * it. Only kept in memory; files do not have them. -EINVAL: no such route; -ENOMEM. */
int route_set_mark_parts(
	struct route_set *set, uint32_t source, uint32_t destination, unsigned i, uint8_t parts);
/* Those of a host's routes, [destination][route], ROUTE_ALTERNATIVES_MAX a destination; 0 where
 * there is no route. NULL if none was ever marked. The set's. */
const uint8_t *route_set_parts(const struct route_set *set, uint32_t source);

/* All routes to one destination as one block: for each source host the number of its routes, each
 * with its length and its elements, a byte each. The bytes that it takes; writes them unless 'out'
 * is NULL. */
size_t route_set_pack(const struct route_set *set, uint32_t destination, uint8_t *out);
/* Puts such a block into a set that has no routes to this destination yet; the reverse of packing.
 * -EINVAL, with the first bad byte in '*where', if the block is none; -ENOMEM. */
int route_set_unpack(struct route_set *set, uint32_t destination, const uint8_t *block,
	size_t bytes, size_t *where);

/* 0 if every ordered pair of different hosts has a route; else -EINVAL with the first pair that has
 * none, by name, and how many others. */
int route_set_check_connected(
	const struct route_set *set, const struct topology *topology, struct fault *fault);
