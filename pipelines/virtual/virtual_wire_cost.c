/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Bytes of traffic on the wire, with source routes of many lengths. */

#include "virtual_links.h"

#include <errno.h>
#include <stdlib.h>

#include "quantity.h"
#include "traffic_pattern.h"

static unsigned first_length(const struct virtual_fabric *fabric, uint32_t from, uint32_t to)
{
	unsigned length = 0;

	return route_set_get(fabric->routes.set, from, to, 0, &length) != NULL ? length : 0;
}

int virtual_wire_cost_open(struct virtual_fabric *fabric, struct fault *fault)
{
	if (fabric->routes.set == NULL)
		return 0;
	fabric->route_sum = calloc(fabric->hosts + 1u, sizeof(*fabric->route_sum));
	if (fabric->route_sum == NULL)
		return fault_set(fault, ENOMEM, "no memory for %u hosts", fabric->hosts);
	route_set_add_lengths(fabric->routes.set, fabric->route_sum);
	return 0;
}

void virtual_wire_cost_close(struct virtual_fabric *fabric)
{
	free(fabric->route_sum);
}

static uint64_t mean(uint64_t sum, uint32_t count)
{
	return sum * TRAFFIC_ROUTE_BYTE / count;
}

static uint64_t mean_to_all(const struct virtual_fabric *fabric, uint32_t host)
{
	return mean(fabric->route_sum[host], fabric->hosts - 1);
}

/* Of those in the list but the host itself; of all if it names no other. */
static uint64_t mean_to(
	const struct virtual_fabric *fabric, uint32_t host, const uint16_t *to, uint32_t count)
{
	uint64_t sum = 0;
	uint32_t others = 0;

	for (uint32_t i = 0; i < count; i++) {
		others += to[i] != host;
		sum += to[i] != host ? first_length(fabric, host, to[i]) : 0;
	}
	return others > 0 ? mean(sum, others) : mean_to_all(fabric, host);
}

/* Combined traffic and the permutations of bits count as if they went to all. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config)
{
	const uint16_t *to = config->permutation;
	uint64_t all, part = config->elsewhere_ppm;

	if (fabric->route_sum == NULL || config->hosts < 2)
		return 0;
	all = mean_to_all(fabric, config->host);
	if (to != NULL && to[config->host] != config->host)
		return (uint32_t)mean_to(fabric, config->host, &to[config->host], 1);
	if (to != NULL || config->pattern->anywhere)
		return (uint32_t)all;
	if (config->near != NULL)
		return (uint32_t)mean_to(fabric, config->host, config->near, config->near_count);
	return (uint32_t)((mean_to(fabric, config->host, config->targets, config->targets_count) *
					  (QUANTITY_WHOLE_PPM - part) +
				  all * part) /
			  QUANTITY_WHOLE_PPM);
}

uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes)
{
	uint64_t frames = frame_count(bytes, fabric->run->nic.mtu_bytes);
	unsigned route = fabric->routes.set != NULL ? first_length(fabric, source, destination) : 0;

	return bytes + frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD + route);
}
