/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "wire/frame.h"

struct nic_routes *nic_routes_create(uint16_t hosts)
{
	struct nic_routes *routes = calloc(1, sizeof(*routes));

	if (routes == NULL)
		return NULL;
	routes->hosts = hosts;
	routes->to = calloc(hosts > 0 ? hosts : 1, sizeof(routes->to[0]));
	if (routes->to == NULL) {
		free(routes);
		errno = ENOMEM;
		return NULL;
	}
	return routes;
}

void nic_routes_destroy(struct nic_routes *routes)
{
	if (routes == NULL)
		return;
	free(routes->to);
	free(routes->offset);
	free(routes->bytes);
	free(routes->sets);
	free(routes);
}

int nic_routes_add(
	struct nic_routes *routes, uint16_t destination, const uint8_t *elements, unsigned length)
{
	struct nic_route_set *set;

	if (destination >= routes->hosts || !frame_is_host_route(elements, length))
		return -EINVAL;
	set = &routes->to[destination];
	if (set->by_table || (set->count > 0 && set->first + set->count != routes->routes))
		return -EINVAL;
	if (set->count == NIC_ROUTES_MAX)
		return -ENOSPC;
	if (!array_reserve(&routes->offset, &routes->routes_room, routes->routes + 1,
		    sizeof(routes->offset[0])) ||
		!array_reserve(&routes->bytes, &routes->room, routes->used + length + 1, 1))
		return -ENOMEM;
	if (set->count++ == 0)
		set->first = routes->routes;
	routes->offset[routes->routes++] = routes->used;
	routes->bytes[routes->used++] = (uint8_t)length;
	memcpy(routes->bytes + routes->used, elements, length);
	routes->used += length;
	return 0;
}

int nic_routes_in_sets(
	struct nic_routes *routes, uint16_t destination, unsigned which, uint8_t sets)
{
	if (destination >= routes->hosts || which >= routes->to[destination].count)
		return -EINVAL;
	if (routes->sets == NULL)
		routes->sets = calloc((size_t)routes->hosts * NIC_ROUTES_MAX, 1);
	if (routes->sets == NULL)
		return -ENOMEM;
	routes->sets[(size_t)destination * NIC_ROUTES_MAX + which] = sets;
	return 0;
}

static uint8_t sets_of(const struct nic_routes *routes, uint16_t destination, unsigned which)
{
	return routes->sets == NULL ? 0
				    : routes->sets[(size_t)destination * NIC_ROUTES_MAX + which];
}

int nic_routes_by_table(struct nic_routes *routes, uint16_t destination)
{
	if (destination >= routes->hosts || routes->to[destination].count > 0)
		return -EINVAL;
	routes->to[destination].by_table = true;
	return 0;
}

bool nic_routes_equal(const struct nic_routes *a, const struct nic_routes *b, uint16_t destination)
{
	const struct nic_route_set *left = &a->to[destination], *right = &b->to[destination];

	if (left->count != right->count || left->by_table != right->by_table)
		return false;
	for (unsigned i = 0; i < left->count; i++) {
		uint8_t length, other;
		const uint8_t *route = nic_routes_get(a, destination, i, &length);
		const uint8_t *same = nic_routes_get(b, destination, i, &other);

		if (length != other || memcmp(route, same, length) != 0 ||
			sets_of(a, destination, i) != sets_of(b, destination, i))
			return false;
	}
	return true;
}
