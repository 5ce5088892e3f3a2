/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Walks through destination tables. A switch forwards all packets to a destination the same way, so
 * all sources are walked together. Unless the tables are faulty, the primary ports form a tree, and
 * the sources are counted along it. */

#include <stdlib.h>
#include <string.h>

#include "verify_private.h"

#define CIRCLE  (UINT32_MAX - 1) /* the primary ports form a loop */
#define LOST    (UINT32_MAX - 2) /* they end before the destination */
#define UNKNOWN VERIFY_NO_WAY

int verify_walk_create(struct verifier *verifier)
{
	size_t switches = verifier->topology->switches + 2u;
	size_t nodes =
		(size_t)verifier->channels->channels * verifier->channels->classes + switches;
	struct table_walk *walk = calloc(1, sizeof(*walk));

	verifier->walk = walk;
	if (walk == NULL)
		return -ENOMEM;
	ARRAYS_ADD(walk, hops, switches);
	ARRAYS_ADD(walk, path, switches);
	ARRAYS_ADD(walk, flow, switches);
	ARRAYS_ADD(walk, rate, switches);
	ARRAYS_ADD(walk, by_hops, switches);
	ARRAYS_ADD(walk, count, switches);
	ARRAYS_ADD(walk, inner, switches * verifier->channels->words);
	ARRAYS_ADD(walk, ports, switches * verifier->channels->words);
	ARRAYS_ADD(walk, onward, switches * verifier->channels->words);
	ARRAYS_ADD(walk, reached, nodes);
	ARRAYS_ADD(walk, queue, nodes);
	if (verifier->channels->rule != NULL) {
		ARRAYS_ADD(walk, alike, nodes);
		ARRAYS_ADD(walk, node, nodes);
		ARRAYS_ADD(walk, followed, nodes);
		ARRAYS_ADD(walk, ways, nodes);
	}
	if (walk->arrays.failed)
		return -ENOMEM;
	verify_follow_prepare(verifier);
	return 0;
}

void verify_walk_destroy(struct verifier *verifier)
{
	struct table_walk *walk = verifier->walk;

	ARRAYS_DESTROY(walk);
}

/* Returns the channel of the primary port; CHANNEL_NONE without an entry or a link. */
static uint32_t primary_out(const struct verifier *verifier, const struct route_table *table,
	uint32_t at, uint32_t destination)
{
	return channel_graph_out(verifier->channels, at, route_table_port(table, at, destination));
}

/* Returns the result of the next switch after 'at'. If there is none, sets '*next' to VERIFY_NO_WAY
 * and returns the result of 'at'. */
static uint32_t hops_of_next(const struct verifier *verifier, const struct route_table *table,
	uint32_t at, uint32_t destination, uint32_t *next)
{
	uint32_t out = primary_out(verifier, table, at, destination);
	struct topology_port to;

	*next = VERIFY_NO_WAY;
	if (out == CHANNEL_NONE)
		return LOST;
	to = verifier->channels->to[out];
	if (to.kind == DEVICE_HOST)
		return to.device == destination ? 0 : LOST;
	*next = to.device;
	return verifier->walk->hops[to.device];
}

/* Follows the primary ports from 'at' to a switch with a known result, and assigns the result to
 * the switches on the path. Meanwhile these are marked as a loop, which is correct if the path
 * returns to one of them. */
static void measure_hops(struct verifier *verifier, const struct route_table *table, uint32_t at,
	uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t depth = 0, next = at, hops = UNKNOWN;
	bool at_host = false;

	while (hops == UNKNOWN) {
		walk->path[depth++] = next;
		walk->hops[next] = CIRCLE;
		hops = hops_of_next(verifier, table, next, destination, &next);
		at_host = next == VERIFY_NO_WAY;
	}
	while (depth-- > 0) {
		if (hops < LOST && !at_host)
			hops++;
		at_host = false;
		walk->hops[walk->path[depth]] = hops;
	}
}

static uint32_t sort_by_hops(struct verifier *verifier)
{
	struct table_walk *walk = verifier->walk;
	uint32_t switches = verifier->topology->switches, sum = 0;

	memset(walk->count, 0, (switches + 1u) * sizeof(*walk->count));
	for (uint32_t at = 0; at < switches; at++)
		if (walk->hops[at] < switches)
			walk->count[walk->hops[at]]++;
	for (uint32_t hops = switches; hops-- > 0;) {
		uint32_t here = walk->count[hops];

		walk->count[hops] = sum;
		sum += here;
	}
	for (uint32_t at = 0; at < switches; at++)
		if (walk->hops[at] < switches)
			walk->by_hops[walk->count[walk->hops[at]]++] = at;
	return sum;
}

static void add_flows(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t arrive = sort_by_hops(verifier);

	for (uint32_t i = 0; i < arrive; i++) {
		uint32_t at = walk->by_hops[i], out = primary_out(verifier, table, at, destination);
		struct topology_port to = verifier->channels->to[out];

		verifier->load[out] += walk->flow[at];
		verifier->demand[out] += walk->rate[at];
		if (to.kind != DEVICE_SWITCH)
			continue;
		walk->flow[to.device] += walk->flow[at];
		walk->rate[to.device] += walk->rate[at];
	}
}

static void verify_sources(
	struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;

	for (uint32_t source = 0; source < verifier->topology->hosts; source++) {
		uint32_t at = verify_host_switch(verifier, source), hops;

		if (source == destination || at == VERIFY_NO_WAY ||
			route_table_port(table, at, destination) == ROUTE_TABLE_NONE)
			continue;
		if (walk->hops[at] == UNKNOWN)
			measure_hops(verifier, table, at, destination);
		hops = walk->hops[at];
		if (hops == CIRCLE || hops == LOST) {
			verify_report_invalid(verifier, source, destination,
				hops == CIRCLE ? "the tables send it around a loop"
					       : "the tables lose it on its path",
				(struct topology_port){.kind = DEVICE_SWITCH, .device = at});
			continue;
		}
		walk->flow[at]++;
		walk->rate[at] += verify_host_rate(verifier, source);
		verifier->demand[verifier->channels->host_out[source]] +=
			verify_host_rate(verifier, source);
		verifier->answered[source] = true;
		verify_count(verifier, at, hops, 0);
	}
}

void verify_tables(struct verifier *verifier, const struct route_table *table, uint32_t destination)
{
	struct table_walk *walk = verifier->walk;
	uint32_t switches = verifier->topology->switches;

	memset(walk->hops, 0xFF, switches * sizeof(*walk->hops));
	memset(walk->flow, 0, switches * sizeof(*walk->flow));
	for (uint32_t at = 0; at < switches; at++)
		walk->rate[at] = 0;
	verify_sources(verifier, table, destination);
	add_flows(verifier, table, destination);
	verify_follow(verifier, table, destination);
}
