/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Dumps of InfiniBand routes, one input in all three places: what is accepted can be verified, what
 * is refused has a reason in one line. */

#include "route/formats/opensm_lanes.h"

#include <string.h>

#include "fuzz.h"
#include "route/verify/route_verify.h"

static void try_subject(const struct topology *topology, const struct route_subject *subject)
{
	struct route_report report;

	REQUIRE(route_verify(topology, subject, 1, &report, NULL) == 0);
	route_report_free(&report);
}

static void try_lanes(const struct topology *topology, const struct route_table *table,
	const char *text, size_t size, struct topology_import *import)
{
	const struct opensm_lanes_input input = {text, "fuzz", size, text, "fuzz", size};
	struct error error = {""};
	struct route_set *set = opensm_lanes_read(topology, table, &input, import, &error);

	REQUIRE(set != NULL || error.text[0] != '\0');
	if (set != NULL)
		try_subject(topology, &(struct route_subject){.set = set});
	route_set_destroy(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct topology *topology = topology_generate("ring:switches=4,hosts=1", NULL);
	const struct opensm_tables_input input = {(const char *)data, "fuzz", size, NULL, NULL, 0};
	struct topology_import import = {.strict = false};
	struct error error = {""};
	struct route_table *table;

	REQUIRE(topology != NULL);
	table = opensm_tables_read(topology, &input, &import, &error);
	REQUIRE(table != NULL || strncmp(error.text, "fuzz:", 5) == 0);
	if (table != NULL) {
		try_subject(topology, &(struct route_subject){.table = table});
		try_lanes(topology, table, (const char *)data, size, &import);
	}
	route_table_destroy(table);
	topology_destroy(topology);
	return 0;
}
