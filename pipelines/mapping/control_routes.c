/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The paths between two hosts in the tables that a mapper distributed, for 'weft lab route'. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "control_plane_private.h"
#include "os/atomic_file.h"
#include "route/route_table.h"

/* A path that loops ends here: a table may be wrong, but must not hang the command. */
#define HOPS_MAX 256

struct way {
	const struct topology *topology;
	struct topology_port at; /* the device that is reached */
	json_t *hops;            /* "s0:2", "itb h5", "step" */
};

static bool begin_way(struct way *way, const struct topology *topology, uint32_t source)
{
	const struct topology_port host = {DEVICE_HOST, source, 0};

	*way = (struct way){.topology = topology, .hops = json_array()};
	return topology_peer(topology, host, &way->at);
}

/* Leaves the switch through the port. False: there is no cable. */
static bool take_port(struct way *way, unsigned port)
{
	const struct topology_port out = {DEVICE_SWITCH, way->at.device, (uint8_t)port};
	char name[TOPOLOGY_NAME_MAX + 8];

	if (way->at.kind != DEVICE_SWITCH)
		return false;
	topology_port_name(way->topology, out, name, sizeof(name));
	json_array_append_new(way->hops, json_string(name));
	return topology_peer(way->topology, out, &way->at);
}

/* A host absorbs the message and re-injects it. */
static bool take_host(struct way *way)
{
	const struct topology_port host = way->at;

	if (host.kind != DEVICE_HOST)
		return false;
	json_array_append_new(
		way->hops, json_sprintf("itb %s", way->topology->host_at[host.device].name));
	return topology_peer(way->topology, host, &way->at);
}

static json_t *follow_route(
	const struct topology *topology, uint32_t source, const uint8_t *route, unsigned length)
{
	struct way way;
	bool good = begin_way(&way, topology, source);

	for (unsigned i = 0; i < length && good; i++) {
		if ((route[i] & ROUTE_PORT_BIT) != 0)
			good = take_port(&way, route[i] & ROUTE_PORT_MASK);
		else if (route[i] == ROUTE_TYPE_ITB)
			good = take_host(&way);
		else if (route[i] == ROUTE_TYPE_STEP)
			json_array_append_new(way.hops, json_string("step"));
	}
	return way.hops;
}

static json_t *follow_table(const struct topology *topology, const struct route_table *table,
	uint32_t source, uint32_t destination)
{
	struct way way;
	bool good = begin_way(&way, topology, source);

	for (unsigned i = 0; i < HOPS_MAX && good && way.at.kind == DEVICE_SWITCH; i++) {
		unsigned port = route_table_port(table, way.at.device, destination);

		good = port != ROUTE_TABLE_NONE && take_port(&way, port);
	}
	return way.hops;
}

static json_t *list_ways(
	const struct mapper_generation *tables, uint32_t source, uint32_t destination)
{
	json_t *ways = json_array();
	const uint8_t *route;
	unsigned length;

	if (tables->set == NULL && tables->table != NULL)
		json_array_append_new(
			ways, follow_table(tables->topology, tables->table, source, destination));
	for (unsigned i = 0; tables->set != NULL && (route = route_set_get(tables->set, source,
							     destination, i, &length)) != NULL;
		i++)
		json_array_append_new(ways, follow_route(tables->topology, source, route, length));
	return ways;
}

/* null: the map of this mapper lacks one of the hosts, or it has no tables yet. */
static json_t *describe(const struct mapper *mapper, const char *from, const char *to)
{
	const struct mapper_generation *tables = mapper_current(mapper);
	int32_t source, destination;

	if (tables == NULL || tables->topology == NULL)
		return json_null();
	source = topology_find_host(tables->topology, from);
	destination = topology_find_host(tables->topology, to);
	if (source < 0 || destination < 0)
		return json_null();
	return json_pack("{s:I,s:I,s:I,s:b,s:o}", "epoch", (json_int_t)mapper->epoch,
		"source_epoch", (json_int_t)mapper_host_epoch(mapper, (uint32_t)source),
		"generation", (json_int_t)tables->number, "tables", tables->set == NULL, "ways",
		list_ways(tables, (uint32_t)source, (uint32_t)destination));
}

void control_serve_routes(const struct control_plane *plane, const char *request)
{
	char host[64], from[64], to[64];
	struct atomic_file file = {.path = NULL};
	json_t *answer = NULL;
	int length = 0;

	if (sscanf(request, "%63s %63s %63s %n", host, from, to, &length) != 3 || length == 0)
		return;
	for (unsigned i = 0; i < plane->devices; i++) {
		const struct control_device *device = &plane->device[i];

		if (device->mapper != NULL && strcmp(device->name, host) == 0 && answer == NULL)
			answer = describe(&device->mapper->mapper, from, to);
	}
	file.path = request + length;
	if (answer != NULL && atomic_file_open(&file, NULL) == 0) {
		if (json_dumpf(answer, file.file, JSON_COMPACT | JSON_ENCODE_ANY) == 0)
			atomic_file_close(&file, NULL);
		else
			atomic_file_discard(&file);
	}
	json_decref(answer);
}
