/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "rails.h"

#include <errno.h>
#include <stdlib.h>

static void fill(struct rails *rails, const struct topology *topology)
{
	uint32_t ports = 0;

	for (uint32_t entry = 0; entry < topology->hosts; entry++) {
		rails->plane[entry] = topology->host_at[entry].plane;
		if (topology->host_at[entry].owner != entry)
			continue;
		rails->first[rails->hosts] = ports;
		for (uint32_t at = entry;; at = topology->host_at[at].next) {
			rails->port[ports++] = at;
			rails->host_of[at] = rails->hosts;
			if (topology->host_at[at].next == 0)
				break;
		}
		rails->first[++rails->hosts] = ports;
	}
}

int rails_create(const struct topology *topology, struct rails **made)
{
	size_t entries = topology->hosts + 1u;
	struct rails *rails;

	*made = NULL;
	if (!topology_has_rails(topology))
		return 0;
	rails = calloc(1, sizeof(*rails));
	if (rails == NULL)
		return -ENOMEM;
	rails->host_of = calloc(entries, sizeof(*rails->host_of));
	rails->first = calloc(entries, sizeof(*rails->first));
	rails->port = calloc(entries, sizeof(*rails->port));
	rails->plane = calloc(entries, sizeof(*rails->plane));
	if (rails->host_of == NULL || rails->first == NULL || rails->port == NULL ||
		rails->plane == NULL) {
		rails_destroy(rails);
		return -ENOMEM;
	}
	fill(rails, topology);
	*made = rails;
	return 0;
}

void rails_destroy(struct rails *rails)
{
	if (rails == NULL)
		return;
	free(rails->host_of);
	free(rails->first);
	free(rails->port);
	free(rails->plane);
	free(rails);
}

static uint32_t count_of(const struct rails *rails, uint32_t host)
{
	return rails->first[host + 1] - rails->first[host];
}

static bool joined(const struct rails *rails, uint32_t a, uint32_t b)
{
	return rails->plane[a] == rails->plane[b] && rails->plane[a] != TOPOLOGY_NO_PLANE;
}

/* Returns the host's port in the plane of 'other': number 'wanted' or the next one, cyclically. */
static uint32_t port_in_plane(
	const struct rails *rails, uint32_t host, uint32_t wanted, uint32_t other)
{
	uint32_t count = count_of(rails, host);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t port = rails->port[rails->first[host] + (wanted + i) % count];

		if (joined(rails, port, other))
			return port;
	}
	return RAILS_NONE;
}

static uint32_t draw_port(const struct rails *rails, uint32_t from, uint32_t host, struct rng *rng)
{
	uint32_t reached = 0, drawn;

	for (uint32_t i = rails->first[host]; i < rails->first[host + 1]; i++)
		reached += joined(rails, rails->port[i], from);
	if (reached == 0)
		return RAILS_NONE;
	drawn = (uint32_t)rng_below(rng, reached);
	for (uint32_t i = rails->first[host];; i++)
		if (joined(rails, rails->port[i], from) && drawn-- == 0)
			return rails->port[i];
}

static uint32_t number_of(const struct rails *rails, uint32_t entry)
{
	uint32_t i = rails->first[rails->host_of[entry]];

	while (rails->port[i] != entry)
		i++;
	return i - rails->first[rails->host_of[entry]];
}

/* The destination's port is the host number modulo its number of ports, or the next one that a port
 * of the source reaches. The source's port is the one with the same number, or the next one that
 * reaches it. */
static uint32_t port_of_destination(const struct rails *rails, uint32_t from, uint32_t host)
{
	uint32_t count = count_of(rails, host), source = rails->host_of[from];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = (host + i) % count;
		uint32_t to = rails->port[rails->first[host] + number];
		uint32_t by = port_in_plane(rails, source, number, to);

		if (by != RAILS_NONE)
			return by == from ? to : RAILS_NONE;
	}
	return RAILS_NONE;
}

uint32_t rails_port(const struct rails *rails, enum rail_rule rule, uint32_t from, uint32_t host,
	struct rng *rng)
{
	switch (rule) {
	case RAIL_SPREAD:
		return draw_port(rails, from, host, rng);
	case RAIL_DESTINATION:
		return port_of_destination(rails, from, host);
	case RAIL_SAME:
	case RAIL_UNSET:
		break;
	}
	return port_in_plane(rails, host, number_of(rails, from), from);
}

bool rails_flow(const struct rails *rails, enum rail_rule rule, uint32_t turn, struct rng *rng,
	uint16_t *from, uint16_t *to)
{
	uint32_t source = rails->host_of[*from], count = count_of(rails, source);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t by = rails->port[rails->first[source] + (turn + i) % count];
		uint32_t at = rails_port(rails, rule, by, rails->host_of[*to], rng);

		if (at == RAILS_NONE)
			continue;
		*from = (uint16_t)by;
		*to = (uint16_t)at;
		return true;
	}
	return false;
}
