/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Reads dumps of InfiniBand routes, with the same input for all three files. Accepted routes can be
 * verified. Refused input gives a one-line reason. */

#include "route/formats/opensm_tables.h"

#include <string.h>

#include "fuzz.h"
#include "route/verify/route_verify.h"

static void try_subject(const struct topology *topology, const struct route_subject *subject)
{
	struct route_report report;

	REQUIRE(route_verify(topology, subject, 1, &report, NULL) == 0);
	route_report_free(&report);
}

static void try_lanes(struct opensm_nodes *nodes, const struct route_table *table, const char *text,
	size_t size, struct topology_import *import)
{
	const struct opensm_lanes_input input = {text, "fuzz", size, text, "fuzz", size};
	struct error error = {""};
	struct route_set *set = opensm_lanes_read(nodes, table, &input, import, &error);

	REQUIRE(set != NULL || error.text[0] != '\0');
	if (set != NULL)
		try_subject(nodes->topology, &(struct route_subject){.set = set});
	route_set_destroy(set);
}

/* With the data of a listing that numbers ports differently, or with descriptions alone. */
static void try_nodes(const struct topology *topology, const struct ib_addresses *addresses,
	const char *text, size_t size)
{
	const struct opensm_tables_input input = {text, "fuzz", size, NULL, NULL, 0};
	struct topology_import import = {.strict = false};
	struct error error = {""};
	struct opensm_nodes nodes;
	struct route_table *table;

	REQUIRE(opensm_nodes_init(&nodes, topology, addresses) == 0);
	table = opensm_tables_read(&nodes, &input, &import, &error);
	REQUIRE(table != NULL || strncmp(error.text, "fuzz:", 5) == 0);
	if (table != NULL) {
		try_subject(topology, &(struct route_subject){.table = table});
		try_lanes(&nodes, table, text, size, &import);
	}
	route_table_destroy(table);
	opensm_nodes_fini(&nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology = topology_generate("ring:switches=4,hosts=1", NULL);
	struct ib_address at[] = {{0x10, 5, 1, {DEVICE_SWITCH, 0, 2}},
		{0x10, 5, 2, {DEVICE_SWITCH, 0, TOPOLOGY_PORTS_MAX}},
		{0x11, 6, 1, {DEVICE_SWITCH, 1, 0}}, {0x20, 1, 1, {DEVICE_HOST, 0, 0}}};
	struct ib_addresses addresses = {.at = at, .count = 4};

	REQUIRE(topology != NULL);
	ib_addresses_sort(&addresses);
	try_nodes(topology, NULL, (const char *)data, size);
	try_nodes(topology, &addresses, (const char *)data, size);
	topology_destroy(topology);
	return 0;
}
