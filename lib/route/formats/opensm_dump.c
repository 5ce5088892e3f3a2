/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_tables.h"

#include <inttypes.h>
#include <stdlib.h>

#include "topo/topology_hosts.h"

#define SWITCH_GUID UINT64_C(0x0200000000010000)
/* Node GUID of host 0; a host's port GUID is its node GUID plus 1. */
#define HOST_GUID UINT64_C(0x0200000100000000)

#define NAMED_MAX 8

static bool has_way(const struct topology *topology, const struct route_file *file, uint32_t source,
	uint32_t destination)
{
	struct topology_port at;

	if (file->set != NULL)
		return route_set_count(file->set, source, destination) > 0;
	return topology_host_switch(topology, source, &at) &&
	       route_table_port(file->table, at.device, destination) != ROUTE_TABLE_NONE;
}

static void count_ways(
	const struct topology *topology, const struct route_file *file, uint32_t *ways)
{
	for (uint32_t source = 0; source < topology->hosts; source++)
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (source != to && has_way(topology, file, source, to)) {
				ways[source]++;
				ways[to]++;
			}
}

static uint32_t count_row(const struct route_table *table, uint32_t at)
{
	uint32_t count = 0;

	for (uint32_t to = 0; to < table->hosts; to++)
		count += route_table_port(table, at, to) != ROUTE_TABLE_NONE;
	return count;
}

/* Like count_ways(), for tables. All hosts of a switch have the same paths in a table, so each row
 * is read only once. 'here' has one element per switch. */
static void count_table_ways(const struct topology *topology, const struct route_table *table,
	uint32_t *here, uint32_t *ways)
{
	struct topology_port at;

	for (uint32_t host = 0; host < topology->hosts; host++)
		if (topology_host_switch(topology, host, &at))
			here[at.device]++;
	for (uint32_t s = 0; s < topology->switches; s++)
		for (uint32_t to = 0; here[s] > 0 && to < topology->hosts; to++)
			ways[to] +=
				route_table_port(table, s, to) != ROUTE_TABLE_NONE ? here[s] : 0;
	for (uint32_t s = 0; s < topology->switches; s++)
		here[s] = here[s] > 0 ? count_row(table, s) : 0;
	for (uint32_t host = 0; host < topology->hosts; host++) {
		if (!topology_host_switch(topology, host, &at))
			continue;
		ways[host] += here[at.device];
		/* The host's path to itself counts neither as one from the host nor as one to it.
		 */
		if (route_table_port(table, at.device, host) != ROUTE_TABLE_NONE)
			ways[host] -= 2;
	}
}

static void note_pair(struct route_gaps *gaps, bool cut_off, uint32_t source, uint32_t destination)
{
	gaps->pairs++;
	if (cut_off)
		return;
	if (gaps->other++ == 0) {
		gaps->source = source;
		gaps->destination = destination;
	}
}

int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps)
{
	uint32_t *ways = calloc(topology->hosts + 1u, sizeof(*ways));
	uint32_t *here = calloc(topology->switches + 1u, sizeof(*here));

	*gaps = (struct route_gaps){.cut_off = calloc(topology->hosts + 1u, sizeof(uint32_t))};
	if (ways == NULL || here == NULL || gaps->cut_off == NULL) {
		free(ways);
		free(here);
		route_gaps_free(gaps);
		return -ENOMEM;
	}
	if (file->set == NULL)
		count_table_ways(topology, file->table, here, ways);
	else
		count_ways(topology, file, ways);
	free(here);
	for (uint32_t host = 0; host < topology->hosts; host++)
		if (ways[host] == 0)
			gaps->cut_off[gaps->cut_offs++] = host;
	for (uint32_t source = 0; source < topology->hosts; source++) {
		if (ways[source] == 2 * (topology->hosts - 1))
			continue;
		for (uint32_t to = 0; to < topology->hosts; to++)
			if (source != to && topology_apart(topology, source, to))
				gaps->apart++;
			else if (source != to && !has_way(topology, file, source, to))
				note_pair(gaps, ways[source] == 0 || ways[to] == 0, source, to);
	}
	free(ways);
	return 0;
}

void route_gaps_free(struct route_gaps *gaps)
{
	free(gaps->cut_off);
	gaps->cut_off = NULL;
	gaps->cut_offs = 0;
}

void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size)
{
	const struct topology_device *host = topology->host_at;
	size_t used = (size_t)snprintf(
		out, size, "%" PRIu64 " pairs of hosts without a route", gaps->pairs);

	for (uint32_t i = 0; i < gaps->cut_offs && i < NAMED_MAX && used < size; i++)
		used += (size_t)snprintf(out + used, size - used, "%s%s",
			i == 0 ? "; cut off: " : ", ", host[gaps->cut_off[i]].name);
	if (gaps->cut_offs > NAMED_MAX && used < size)
		used += (size_t)snprintf(
			out + used, size - used, " and %u more", gaps->cut_offs - NAMED_MAX);
	if (gaps->other > 0 && used < size)
		snprintf(out + used, size - used, "; %" PRIu64 " others, the first from %s to %s",
			gaps->other, host[gaps->source].name, host[gaps->destination].name);
}

static int check_lids(const struct topology *topology, struct error *error)
{
	uint64_t lids = (uint64_t)topology->hosts + topology->switches;

	if (lids <= OPENSM_LID_MAX)
		return 0;
	return error_set(error, EINVAL,
		"%s: there are %" PRIu64
		" hosts and switches; at most %u are allowed, the number of InfiniBand LIDs",
		topology->name, lids, OPENSM_LID_MAX);
}

static uint32_t lid_of_host(uint32_t host)
{
	return host + 1;
}

static uint32_t lid_of_switch(const struct topology *topology, uint32_t at)
{
	return topology->hosts + at + 1;
}

/* { SW Ports:0C SystemGUID:... NodeGUID:... PortGUID:... VenID:... {s0} LID:0002 PN:01 } */
static void write_end(const struct topology *topology, struct topology_port end, FILE *out)
{
	bool host = end.kind == DEVICE_HOST;
	const struct topology_device *device = topology_device(topology, end.kind, end.device);
	uint64_t guid =
		host ? HOST_GUID + 2 * (uint64_t)end.device : SWITCH_GUID + (uint64_t)end.device;

	fprintf(out,
		"{ %s Ports:%02X SystemGUID:%016" PRIX64 " NodeGUID:%016" PRIX64
		" PortGUID:%016" PRIX64
		" VenID:000000 DevID:0000 Rev:00000000 {%s} LID:%04X PN:%02X }",
		host ? "CA" : "SW", device->ports, guid, guid, guid + host, device->name,
		host ? lid_of_host(end.device) : lid_of_switch(topology, end.device), end.port + 1);
}

static void write_direction(const struct topology *topology, struct topology_port from,
	struct topology_port to, FILE *out)
{
	write_end(topology, from, out);
	putc(' ', out);
	write_end(topology, to, out);
	fputs(" PHY=4x LOG=ACT SPD=2.5\n", out);
}

int opensm_dump_subnet(const struct topology *topology, FILE *out, struct error *error)
{
	int result = check_lids(topology, error);

	for (uint32_t i = 0; i < topology->links && result == 0; i++) {
		const struct topology_link *link = &topology->link_at[i];

		write_direction(topology, link->a, link->b, out);
		write_direction(topology, link->b, link->a, out);
	}
	return result;
}

static void write_switch(
	const struct topology *topology, const struct route_table *table, uint32_t at, FILE *out)
{
	const uint8_t *row = route_table_row(table, at);

	fprintf(out, "dump_ucast_routes: Switch 0x%016" PRIx64 "\nLID    : Port\n",
		SWITCH_GUID + at);
	for (uint32_t host = 0; host < table->hosts; host++)
		if (row[host] != ROUTE_TABLE_NONE)
			fprintf(out, "0x%04X : %03u\n", lid_of_host(host), row[host] + 1);
	fprintf(out, "0x%04X : 000\n\n", lid_of_switch(topology, at));
}

int opensm_dump_tables(const struct topology *topology, const struct route_table *table, FILE *out,
	struct error *error)
{
	int result = check_lids(topology, error);

	if (result < 0)
		return result;
	if (table->switches != topology->switches || table->hosts != topology->hosts)
		return error_set(error, EINVAL,
			"tables of %u switches and %u hosts, but %s has %u and %u", table->switches,
			table->hosts, topology->name, topology->switches, topology->hosts);
	if (table->vc_rule != NULL)
		return error_set(error, EINVAL,
			"the tables were computed with %s, which needs VC classes; use tables "
			"for one lane",
			table->origin.algorithm);
	for (uint32_t at = 0; at < topology->switches; at++)
		write_switch(topology, table, at, out);
	return 0;
}
