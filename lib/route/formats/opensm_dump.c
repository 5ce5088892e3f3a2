/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_dump.h"

#include <inttypes.h>

#define SWITCH_GUID UINT64_C(0x0200000000010000)
/* Node GUID of host 0; a port GUID is one more than the node's. */
#define HOST_GUID UINT64_C(0x0200000100000000)

static int check_lids(const struct topology *topology, struct fault *fault)
{
	uint64_t lids = (uint64_t)topology->hosts + topology->switches;

	if (lids <= OPENSM_LID_MAX)
		return 0;
	return fault_set(fault, EINVAL,
		"%s: %" PRIu64 " hosts and switches, expected at most %u, the LIDs of InfiniBand",
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
	const struct topology_device *device =
		host ? &topology->host_at[end.device] : &topology->switch_at[end.device];
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

int opensm_dump_subnet(const struct topology *topology, FILE *out, struct fault *fault)
{
	int result = check_lids(topology, fault);

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
	struct fault *fault)
{
	int result = check_lids(topology, fault);

	if (result < 0)
		return result;
	if (table->switches != topology->switches || table->hosts != topology->hosts)
		return fault_set(fault, EINVAL,
			"tables of %u switches and %u hosts, expected those of %s: %u and %u",
			table->switches, table->hosts, topology->name, topology->switches,
			topology->hosts);
	if (table->vc_rule != NULL)
		return fault_set(fault, EINVAL,
			"tables by %s, which needs VC classes, expected tables for one lane",
			table->origin.algorithm);
	for (uint32_t at = 0; at < topology->switches; at++)
		write_switch(topology, table, at, out);
	return 0;
}
