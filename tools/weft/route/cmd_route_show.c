/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route show: prints the routes of one pair of hosts, or its path through the tables. */

#include "route_subject.h"

#define NAME "route show"

static int print_route(const struct topology *topology, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length)
{
	char text[ROUTE_ELEMENTS_MAX * (TOPOLOGY_NAME_MAX + 4)];

	if (route_text(topology, source, route, length, text, sizeof(text)) < 0)
		return command_fail(NAME, EXIT_BAD_ANSWER, "a route uses a port without a link");
	printf("%s %s %s\n", topology->host_at[source].name, topology->host_at[destination].name,
		text);
	return EXIT_DONE;
}

static int show_routes(const struct topology *topology, const struct route_set *set,
	uint32_t source, uint32_t destination)
{
	const uint8_t *route;
	unsigned length;
	int result = EXIT_DONE;

	for (unsigned i = 0; result == EXIT_DONE &&
			     (route = route_set_get(set, source, destination, i, &length)) != NULL;
		i++)
		result = print_route(topology, source, destination, route, length);
	return result;
}

/* Prints the alternative ports of a switch after the route. */
static void print_alternatives(const struct topology *topology, const struct route_table *table,
	uint32_t at, uint32_t destination)
{
	const uint64_t *sets = route_table_alternatives(table, at);
	const char *gap = NULL;

	for (unsigned word = 0; sets != NULL && word < table->words; word++)
		for (uint64_t ports = sets[(size_t)destination * table->words + word]; ports != 0;
			ports &= ports - 1, gap = ", ") {
			if (gap == NULL)
				printf("# %s may take ", topology->switch_at[at].name);
			printf("%s%u", gap == NULL ? "" : gap,
				64 * word + (unsigned)__builtin_ctzll(ports));
		}
	if (gap != NULL)
		putchar('\n');
}

static int show_walk(const struct topology *topology, const struct route_table *table,
	uint32_t source, uint32_t destination)
{
	struct topology_port at = {.kind = DEVICE_HOST, .device = source};
	uint32_t steps = 0;

	if (!topology_peer(topology, at, &at))
		return EXIT_DONE;
	printf("%s %s", topology->host_at[source].name, topology->host_at[destination].name);
	while (at.kind == DEVICE_SWITCH && steps++ <= topology->switches) {
		at.port = route_table_port(table, at.device, destination);
		if (at.port == ROUTE_TABLE_NONE)
			break;
		printf(" %s:%u", topology->switch_at[at.device].name, at.port);
		if (!topology_peer(topology, at, &at))
			break;
	}
	putchar('\n');
	if (at.kind != DEVICE_HOST || at.device != destination)
		return command_fail(NAME, EXIT_BAD_ANSWER, "the tables do not lead to %s",
			topology->host_at[destination].name);
	topology_peer(topology, (struct topology_port){.kind = DEVICE_HOST, .device = source}, &at);
	while (at.kind == DEVICE_SWITCH) {
		print_alternatives(topology, table, at.device, destination);
		at.port = route_table_port(table, at.device, destination);
		topology_peer(topology, at, &at);
	}
	return EXIT_DONE;
}

static int find_host(const struct topology *topology, const char *name, uint32_t *host)
{
	int32_t found = topology_find_host(topology, name);

	if (found < 0)
		return command_fail(NAME, EXIT_BAD_REQUEST, "no host '%s' in topology %s", name,
			topology->name);
	*host = (uint32_t)found;
	return EXIT_DONE;
}

/* Returns whether there is any route from the pair's source. */
static bool has_way(const struct subject *subject, uint32_t source, uint32_t destination)
{
	struct topology_port at = {.kind = DEVICE_HOST, .device = source};

	if (subject->file[0].set != NULL)
		return route_set_count(subject->file[0].set, source, destination) > 0;
	return topology_peer(subject->topology, at, &at) && at.kind == DEVICE_SWITCH &&
	       route_table_port(subject->file[0].table, at.device, destination) != ROUTE_TABLE_NONE;
}

static int show_pair(const struct subject *subject, const char *from, const char *to)
{
	uint32_t source = 0, destination = 0;
	int result = find_host(subject->topology, from, &source);

	if (result == EXIT_DONE)
		result = find_host(subject->topology, to, &destination);
	if (result != EXIT_DONE)
		return result;
	if (source == destination)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"%s and %s are the same host; messages within a host need no route", from,
			to);
	if (!has_way(subject, source, destination))
		return command_fail(NAME, EXIT_BAD_ANSWER, "no route from %s to %s", from, to);
	if (subject->file[0].set != NULL)
		return show_routes(subject->topology, subject->file[0].set, source, destination);
	return show_walk(subject->topology, subject->file[0].table, source, destination);
}

int cmd_route_show(int argc, char **argv)
{
	static const struct command_option options[] = {
		TOPOLOGY_CUT_OPTION(struct subject_request, cut), {NULL}};
	struct subject_request request = {.command = NAME, .files_max = 3};
	struct subject subject;
	int result = subject_arguments(&request, options, &request, argc, argv);

	if (result == EXIT_DONE && request.files != 3)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"%u arguments; expected TOPO ROUTES SOURCE DESTINATION",
			request.files + (request.topology != NULL));
	request.files = 1; /* the remaining two arguments are the hosts */
	if (result == EXIT_DONE)
		result = subject_open(&subject, &request);
	if (result != EXIT_DONE)
		return result;
	result = show_pair(&subject, request.name[1], request.name[2]);
	subject_close(&subject);
	return result;
}
