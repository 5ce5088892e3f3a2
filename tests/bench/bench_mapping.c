/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-bench-mapping TOPO [ALGORITHM [tables|routes]]: time and frames to map a network from cold
 * and to heal one cut cable, on the virtual clock (docs/developer/benchmarks.md). Prints a JSON
 * object. */

#include <stdio.h>
#include <string.h>

#include "virtual_mapping.h"

static void print_phase(const char *name, const struct virtual_mapping_phase *phase, uint32_t links,
	const char *end)
{
	printf("  \"%s\": {\"time_us\": %.3f, \"frames\": %lu, \"hops\": %lu, \"probes\": %lu, "
	       "\"tables_and_phases\": %lu, \"frames_per_link\": %.3f, \"live\": %s}%s\n",
		name, (double)phase->time_ps / (double)PS_PER_US, (unsigned long)phase->frames,
		(unsigned long)phase->hops, (unsigned long)phase->probes,
		(unsigned long)phase->tables_and_phases, (double)phase->frames / links,
		phase->live ? "true" : "false", end);
}

int main(int argc, char **argv)
{
	const struct virtual_mapping_options options =
		virtual_mapping_usual(route_algorithm_find(argc > 2 ? argv[2] : "dmodk"),
			argc < 4 || strcmp(argv[3], "routes") != 0);
	struct virtual_mapping_result result;
	struct topology *topology;
	struct error error;
	int failure;

	if (argc < 2 || argc > 4 || options.algorithm == NULL) {
		fprintf(stderr, "usage: weft-bench-mapping TOPO [ALGORITHM [tables|routes]]\n");
		return EXIT_BAD_REQUEST;
	}
	topology = topology_open(argv[1], &error);
	if (topology == NULL) {
		fprintf(stderr, "weft-bench-mapping: %s\n", error.text);
		return EXIT_BAD_REQUEST;
	}
	failure = virtual_mapping_run(topology, &options, &result, &error);
	if (failure < 0) {
		fprintf(stderr, "weft-bench-mapping: %s\n", error.text);
	} else {
		printf("{\n  \"topology\": \"%s\", \"algorithm\": \"%s\", \"tables\": %s, "
		       "\"hosts\": %u, \"switches\": %u, \"links\": %u,\n",
			argv[1], options.algorithm->name, options.tables ? "true" : "false",
			topology->hosts, topology->switches, topology->links);
		print_phase("cold", &result.cold, topology->links, ",");
		print_phase("heal", &result.heal, topology->links, "\n}");
	}
	topology_destroy(topology);
	return failure < 0 ? EXIT_BAD_ANSWER : EXIT_DONE;
}
