/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Converts the images that a mapper distributes (table_image.h) into the tables of devices. The
 * control thread does it: it allocates. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control_plane_private.h"
#include "mapper/table_image.h"

/* The rule of one switch, number 0. */
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

/* The image ends with the highest host that was found. The hosts above get queue 0, so that lookups
 * need no range check. */
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
