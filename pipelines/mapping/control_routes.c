/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Lists the paths between two hosts in tables that a mapper distributed, for 'weft lab route'. */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_plane_private.h"
#include "mapper/table_image.h"
#include "os/atomic_file.h"
#include "route/route_table.h"

/* Bounds paths: tables may contain a loop, which must not hang the command. */
#define HOPS_MAX 256

struct way {
	const struct topology *topology;
	struct topology_port at; /* device reached so far */
	json_t *hops;            /* "s0:2", "itb h5", "step" */
};

static bool begin_way(struct way *way, const struct topology *topology, uint32_t source)
{
	const struct topology_port host = {DEVICE_HOST, source, 0};

	*way = (struct way){.topology = topology, .hops = json_array()};
	return topology_peer(topology, host, &way->at);
}

/* Follows the cable at the switch's port. Returns false if the port has none. */
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

/* Passes through a host that absorbs the message and re-injects it. */
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
		else if (route_is_layer(route[i]))
			json_array_append_new(
				way.hops, json_sprintf("layer %u", route[i] & ROUTE_LAYER_MASK));
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

/* Returns a JSON null if the mapper's map lacks one of the hosts, or there are no tables yet. */
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

/* Converts images that a mapper distributed (table_image.h) into tables for devices, in the control
 * thread because this allocates memory. */

/* Returns the VC rule of a single switch, with index 0. */
static struct vc_rule *make_rule(const struct table_image_switch *tables, unsigned ports)
{
	struct vc_rule *rule = vc_rule_create(1, tables->vc_classes);

	if (rule == NULL)
		return NULL;
	rule->steps = tables->vc_steps;
	memcpy(rule->ring, tables->ring, ports);
	rule->dateline[0] = tables->dateline;
	return rule;
}

static int fill_switch(
	struct switch_tables *tables, const uint8_t *image, unsigned ports, uint32_t hosts)
{
	uint32_t given = table_image_hosts(image), used = given < hosts ? given : hosts;
	uint64_t *alternatives = calloc(given + 1u, sizeof(*alternatives));
	struct table_image_switch read;

	if (alternatives == NULL)
		return -ENOMEM;
	table_image_read_switch(image, ports, &read, alternatives);
	memcpy(tables->port, read.primary, used);
	memcpy(tables->alternatives, alternatives, used * sizeof(*alternatives));
	free(alternatives);
	tables->stage = read.stage;
	tables->queues = table_image_queues(image);
	if (read.vc_classes == 0)
		return 0;
	tables->vc_rule = make_rule(&read, ports);
	return tables->vc_rule == NULL ? -ENOMEM : 0;
}

struct switch_tables *control_switch_tables(const uint8_t *image, unsigned ports, uint32_t hosts)
{
	struct switch_tables *tables = switch_tables_create(hosts);

	if (tables != NULL && fill_switch(tables, image, ports, hosts) == 0)
		return tables;
	switch_tables_destroy(tables);
	errno = ENOMEM;
	return NULL;
}

struct host_fill {
	struct nic_routes *routes;
	uint16_t reached;
	int result;
};

static void add_route(void *context, const struct table_image_route *route)
{
	struct host_fill *fill = context;
	int result;

	if (route->destination >= fill->routes->hosts || route->which >= NIC_ROUTES_MAX)
		return;
	result = route->length == 0 ? nic_routes_by_table(fill->routes, route->destination)
				    : nic_routes_add(fill->routes, route->destination,
					      route->elements, route->length);
	fill->reached += route->which == 0;
	if (result == 0 && route->parts != 0)
		result = nic_routes_in_sets(
			fill->routes, route->destination, route->which, route->parts);
	if (fill->result == 0)
		fill->result = result;
}

/* The image ends with the last host that was found. Hosts with higher numbers get queue 0, so that
 * lookups need no range check. */
static int know_all_hosts(struct queuing *queuing, uint16_t hosts)
{
	uint32_t *leaf;

	if (queuing == NULL || queuing->hosts >= hosts)
		return 0;
	leaf = realloc(queuing->leaf, hosts * sizeof(*leaf));
	if (leaf == NULL)
		return -ENOMEM;
	memset(leaf + queuing->hosts, 0, (hosts - queuing->hosts) * sizeof(*leaf));
	queuing->leaf = leaf;
	queuing->hosts = hosts;
	return 0;
}

static int read_queuing(struct host_tables *tables, const uint8_t *image, uint16_t hosts)
{
	int result = table_image_queuing(image, &tables->queuing);

	return result < 0 ? result : know_all_hosts(tables->queuing, hosts);
}

struct host_tables *control_host_tables(const uint8_t *image, uint16_t hosts, uint16_t *reached)
{
	struct host_tables *tables = host_tables_create(hosts);
	struct host_fill fill = {.routes = tables == NULL ? NULL : tables->routes};

	if (tables != NULL) {
		table_image_each_route(image, add_route, &fill);
		*reached = fill.reached;
	}
	if (tables != NULL && fill.result == 0)
		fill.result = read_queuing(tables, image, hosts);
	if (tables != NULL && fill.result == 0)
		return tables;
	host_tables_destroy(tables);
	errno = ENOMEM;
	return NULL;
}
