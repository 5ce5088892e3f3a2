/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of one host. A destination has up to NIC_ROUTES_MAX alternatives in order of
 * preference, in frame format (lib/wire/frame.h), or none if switch tables route to it. All other
 * destinations are unreachable.
 *
 * Routes are filled in per destination before they are passed to an interface, and are constant
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
	uint32_t *offset; /* offset of each route in 'bytes': a length byte, then the elements */
	uint32_t routes, routes_room;
	uint8_t *bytes;
	uint32_t used, room;
	/* The route sets of each route as bits (route_choice.h), [hosts * NIC_ROUTES_MAX]; NULL:
	 * unknown. */
	uint8_t *sets;
};

/* Initially, no destination is reachable. Returns NULL with errno ENOMEM if out of memory. */
struct nic_routes *nic_routes_create(uint16_t hosts);
void nic_routes_destroy(struct nic_routes *routes);

/* Appends an alternative. All alternatives of a destination must be added consecutively. Returns 0;
 * -EINVAL for an invalid destination, an interrupted sequence, more than FRAME_ROUTE_MAX elements,
 * an inner element that is neither a port nor an in-transit mark, or a last element other than
 * ROUTE_TYPE_HOST; -ENOSPC if there are NIC_ROUTES_MAX already; or -ENOMEM. */
int nic_routes_add(
	struct nic_routes *routes, uint16_t destination, const uint8_t *elements, unsigned length);

/* Assigns route 'which' of a destination to sets, as bits. Returns 0, -EINVAL (no such route) or
 * -ENOMEM. */
int nic_routes_in_sets(
	struct nic_routes *routes, uint16_t destination, unsigned which, uint8_t sets);

/* Records that switch tables route to the destination. Returns 0, or -EINVAL if the destination is
 * invalid or has source routes. */
int nic_routes_by_table(struct nic_routes *routes, uint16_t destination);

static inline bool nic_routes_reaches(const struct nic_routes *routes, uint16_t destination)
{
	return destination < routes->hosts &&
	       (routes->to[destination].count > 0 || routes->to[destination].by_table);
}

/* Returns true if both have the same routes to the destination, in the same order. */
bool nic_routes_equal(const struct nic_routes *a, const struct nic_routes *b, uint16_t destination);

/* Returns the elements of alternative 'which', and their number in *length. */
static inline const uint8_t *nic_routes_get(
	const struct nic_routes *routes, uint16_t destination, unsigned which, uint8_t *length)
{
	const uint8_t *at = routes->bytes + routes->offset[routes->to[destination].first + which];

	*length = at[0];
	return at + 1;
}
