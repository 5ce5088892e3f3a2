/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct counts {
	uint32_t switches, hosts;
};

struct collector {
	struct route_set *set;
	uint32_t host;
	int result;
};

static const struct map_device *device_of(
	const struct image_reading *reading, const struct image_read *read)
{
	return &reading->map->device[read->device];
}

static const struct vc_rule *rule_of(const struct mapper_generation *generation)
{
	return generation->table != NULL ? generation->table->vc_rule
					 : route_set_vc_rule(generation->set);
}

static bool has_rule(const uint8_t *image, unsigned ports, uint32_t at, const struct vc_rule *rule)
{
	struct table_image_switch tables;

	table_image_read_switch(image, ports, &tables, NULL);
	if (rule == NULL)
		return tables.vc_classes == 0;
	if (tables.vc_classes != rule->classes || tables.vc_steps != rule->steps ||
		at >= rule->switches || tables.dateline != rule->dateline[at])
		return false;
	for (unsigned port = 0; port < ports; port++)
		if (tables.ring[port] != vc_rule_ring(rule, at, port))
			return false;
	return true;
}

static bool is_comparable(const struct image_reading *reading, const struct image_read *read,
	const struct mapper_generation *next)
{
	const struct map_device *device = device_of(reading, read);
	const struct table_image *image = &read->image;

	if (read->failed || read->digest != device->facts.digest ||
		table_image_digest(image->bytes, image->length) != read->digest ||
		!table_image_check(
			image->bytes, image->length, device->facts.kind, device->facts.ports) ||
		table_image_number(image->bytes) != device->number)
		return false;
	return device->facts.kind != 0 ||
	       has_rule(image->bytes, device->facts.ports, device->number, rule_of(next));
}

static void add_route(void *context, const struct table_image_route *route)
{
	struct collector *collector = context;

	if (route->length > 0 && collector->result == 0)
		collector->result = route_set_add(collector->set, collector->host,
			route->destination, route->elements, route->length);
}

static int take_host(struct mapper_generation *found, const struct image_read *read, uint32_t host)
{
	struct collector collector = {found->set, host, 0};

	table_image_each_route(read->image.bytes, add_route, &collector);
	return collector.result;
}

static void take_switch(
	struct mapper_generation *found, const struct image_read *read, uint32_t at, unsigned ports)
{
	struct table_image_switch tables;
	uint32_t hosts = table_image_hosts(read->image.bytes);

	if (hosts == 0)
		return;
	table_image_read_switch(
		read->image.bytes, ports, &tables, route_table_alternatives(found->table, at));
	memcpy(route_table_row(found->table, at), tables.primary, hosts);
}

static int take_rule(struct mapper_generation *found, const struct vc_rule *rule)
{
	struct vc_rule *copy;

	if (rule == NULL)
		return 0;
	copy = vc_rule_copy(rule);
	if (copy == NULL)
		return -ENOMEM;
	found->table->vc_rule = copy;
	return 0;
}

static int create(struct mapper_generation *found, const struct counts *counts)
{
	found->topology = topology_create("found", counts->switches, counts->hosts);
	found->set = route_set_create(counts->hosts);
	found->table = route_table_create(counts->switches, counts->hosts);
	if (found->topology == NULL || found->set == NULL || found->table == NULL)
		return -ENOMEM;
	return route_table_add_alternatives(found->table, 1);
}

int installed_tables_make(struct mapper_generation *found, const struct image_reading *reading,
	const struct mapper_generation *next)
{
	struct counts counts = {next->topology->switches, next->topology->hosts};
	int result;

	for (uint32_t i = 0; i < reading->reads; i++) {
		uint32_t hosts;

		if (!is_comparable(reading, &reading->read[i], next))
			return -EINVAL;
		hosts = table_image_hosts(reading->read[i].image.bytes);
		if (hosts > counts.hosts)
			counts.hosts = hosts;
	}
	result = create(found, &counts);
	if (result == 0)
		result = take_rule(found, rule_of(next));
	for (uint32_t i = 0; i < reading->reads && result == 0; i++) {
		const struct image_read *read = &reading->read[i];
		const struct map_device *device = device_of(reading, read);

		if (device->facts.kind == 0)
			take_switch(found, read, device->number, device->facts.ports);
		else
			result = take_host(found, read, device->number);
	}
	return result;
}
