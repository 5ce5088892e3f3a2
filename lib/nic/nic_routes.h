/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of one host. A destination has up to NIC_ROUTES_MAX alternatives in order of
 * preference, in frame format (lib/wire/frame.h), or none if switch tables route to it; all others
 * are unreachable.
 *
 * They are filled destination by destination before an interface gets them, and are constant
 * afterwards; several interfaces may read them. nic_set_routes() replaces them as a whole. */

#include <stdbool.h>
#include <stdint.h>

#define NIC_ROUTES_MAX 10

struct nic_route_set {
	uint32_t first; /* index of the first alternative in 'offset' */
	uint8_t count;
	bool by_table; /* reachable without a source route */
};

struct nic_routes {
	uint16_t hosts;
	struct nic_route_set *to; /* [hosts] */
	uint32_t *offset; /* where each route starts in 'bytes': a length byte, then the elements */
	uint32_t routes, routes_room;
	uint8_t *bytes;
	uint32_t used, room;
	/* The route sets of each route, as bits (route_choice.h), [hosts * NIC_ROUTES_MAX]; NULL:
	 * unknown. */
	uint8_t *sets;
};

/* Nothing reachable. Returns NULL with errno ENOMEM if out of memory. */
struct nic_routes *nic_routes_create(uint16_t hosts);
void nic_routes_destroy(struct nic_routes *routes);

/* Appends an alternative; all alternatives of a destination must be added consecutively. Fails with
 * -EINVAL: no such destination, out of order, more than FRAME_ROUTE_MAX elements, an inner element
 * that is neither a port nor an in-transit mark, or a last one that is not ROUTE_TYPE_HOST;
 * -ENOSPC: there are NIC_ROUTES_MAX already. May return -ENOMEM. */
int nic_routes_add(
	struct nic_routes *routes, uint16_t destination, const uint8_t *elements, unsigned length);

/* Assigns route 'which' of a destination to sets, as bits. Fails with -EINVAL: no such route. May
 * return -ENOMEM. */
int nic_routes_in_sets(
	struct nic_routes *routes, uint16_t destination, unsigned which, uint8_t sets);

/* Records that switch tables route to the destination. Fails with -EINVAL: no such destination, or
 * it has source routes. */
int nic_routes_by_table(struct nic_routes *routes, uint16_t destination);

static inline bool nic_routes_reaches(const struct nic_routes *routes, uint16_t destination)
{
	return destination < routes->hosts &&
	       (routes->to[destination].count > 0 || routes->to[destination].by_table);
}

/* True if both have the same routes to the destination, in the same order. */
bool nic_routes_equal(const struct nic_routes *a, const struct nic_routes *b, uint16_t destination);

/* Elements of alternative 'which' and their number. */
static inline const uint8_t *nic_routes_get(
	const struct nic_routes *routes, uint16_t destination, unsigned which, uint8_t *length)
{
	const uint8_t *at = routes->bytes + routes->offset[routes->to[destination].first + which];

	*length = at[0];
	return at + 1;
}
