/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topo/topology_hosts.h"

struct route_table *route_table_create(uint32_t switches, uint32_t hosts)
{
	size_t entries = (size_t)switches * hosts;
	struct route_table *table = calloc(1, sizeof(*table) + entries);

	if (table == NULL)
		return NULL;
	table->switches = switches;
	table->hosts = hosts;
	table->words = 1;
	memset(table->primary, ROUTE_TABLE_NONE, entries);
	return table;
}

int route_table_add_alternatives(struct route_table *table, unsigned words)
{
	table->words = words;
	table->alternatives = calloc(
		(size_t)table->switches * table->hosts * words + 1, sizeof(*table->alternatives));
	return table->alternatives == NULL ? -ENOMEM : 0;
}

void route_table_destroy(struct route_table *table)
{
	if (table == NULL)
		return;
	free(table->alternatives);
	vc_rule_destroy(table->vc_rule);
	free(table);
}

uint8_t route_table_port(const struct route_table *table, uint32_t at, uint32_t host)
{
	const uint64_t *sets = route_table_alternatives(table, at);
	uint8_t primary = route_table_row(table, at)[host];
	uint64_t global;

	if (primary != ROUTE_TABLE_NONE || sets == NULL || sets[host] == 0 ||
		table->vc_rule == NULL || !vc_steps_is_ladder(table->vc_rule->steps))
		return primary;
	/* The switch's own link to another group is nearer. */
	global = sets[host] & table->vc_rule->dateline[at];
	return (uint8_t)__builtin_ctzll(global != 0 ? global : sets[host]);
}

/* The number of destinations that the switch of a host should reach but cannot; '*first' gets the
 * first of them. */
static uint32_t row_holes(const struct route_table *table, const struct topology *topology,
	uint32_t source, uint32_t at, uint32_t *first)
{
	uint32_t holes = 0;

	for (uint32_t host = table->hosts; host-- > 0;)
		if (route_table_port(table, at, host) == ROUTE_TABLE_NONE &&
			!topology_apart(topology, source, host)) {
			*first = host;
			holes++;
		}
	return holes;
}

int route_table_check_connected(
	const struct route_table *table, const struct topology *topology, struct error *error)
{
	uint32_t source = 0, destination = 0, unreached = 0;
	uint64_t missing = 0;

	for (uint32_t host = 0; host < table->hosts; host++) {
		struct topology_port peer;
		bool attached = topology_host_switch(topology, host, &peer);
		uint32_t holes =
			attached ? row_holes(table, topology, host, peer.device, &unreached)
			: topology_apart(topology, host, host) ? 0 /* no cable was planned */
							       : table->hosts - 1;

		if (holes > 0 && missing == 0) {
			source = host;
			destination = attached ? unreached : (host == 0 ? 1 : 0);
		}
		missing += holes;
	}
	if (missing == 0)
		return 0;
	return error_set(error, EINVAL,
		"%s: no path from %s to %s (%" PRIu64 " pairs of hosts without a path in all), "
		"expected a connected topology",
		topology->name, topology->host_at[source].name, topology->host_at[destination].name,
		missing);
}
