/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'weft lab status --wide': lines as long as they are, with every counter that is not zero. */

#include "status_print.h"

#include <inttypes.h>

#include "lab_collect.h"
#include "lab_query.h"

static void print_processes(json_t *processes)
{
	json_t *process;
	size_t index;

	printf("%-16s %-12s %8s  %s\n", "PROCESS", "PROGRAM", "PID", "STATE");
	json_array_foreach(processes, index, process)
	{
		printf("%-16s %-12s %8" PRIu64 "  %s%s%s\n", lab_text(process, "name"),
			lab_text(process, "program"), json_count_of(process, "pid"),
			lab_text(process, "state"),
			lab_text(process, "fault")[0] != '\0' ? ": " : "",
			lab_text(process, "fault"));
	}
}

static void print_links(json_t *links)
{
	json_t *link;
	size_t index;

	printf("\n%-12s %-12s %s\n", "PORT", "PEER", "LINK");
	json_array_foreach(links, index, link)
	{
		printf("%-12s %-12s %s\n", lab_text(link, "port"), lab_text(link, "peer"),
			lab_text(link, "state"));
	}
}

/* Prints the counters that are not zero. Unknown values are "-". */
static void print_devices(const char *title, json_t *devices)
{
	const char *device, *name;
	json_t *counters, *value;

	if (json_object_size(devices) > 0)
		printf("\n%s\n", title);
	json_object_foreach(devices, device, counters)
	{
		printf("%s:", device);
		json_object_foreach(counters, name, value)
		{
			if (json_integer_value(value) != 0)
				printf(" %s %" PRIu64, name, (uint64_t)json_integer_value(value));
			else if (json_is_null(value))
				printf(" %s -", name);
		}
		putchar('\n');
	}
}

void status_print_wide(json_t *all)
{
	print_processes(json_object_get(all, "processes"));
	print_links(json_object_get(all, "links"));
	status_print_mapping(json_object_get(all, "mapping"), stdout);
	print_devices("SWITCHES", json_object_get(all, "switches"));
	print_devices("INTERFACES", json_object_get(all, "nics"));
	status_print_edges(json_object_get(all, "edges"), stdout);
	print_devices("CONGESTION", json_object_get(all, "congestion"));
	print_devices("LOOPS", json_object_get(all, "loops"));
	printf("\nlab %s: %u processes are not running, %u ends of links are not up\n",
		lab_text(all, "lab"), lab_count_not(json_object_get(all, "processes"), "running"),
		lab_count_not(json_object_get(all, "links"), "up"));
	status_print_strangers(json_object_get(all, "links"), stdout);
	status_print_clocks(json_object_get(all, "clocks_total"), stdout);
	status_print_elsewhere(json_object_get(all, "elsewhere"), stdout);
}
