/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric_map.h"

#define NUMBERS 65536

static enum device_kind kind_of(const struct map_device *device)
{
	return device->facts.kind == 0 ? DEVICE_SWITCH : DEVICE_HOST;
}

static int by_identity(const void *a, const void *b)
{
	const struct map_device *x = *(struct map_device *const *)a;
	const struct map_device *y = *(struct map_device *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Who has a number keeps it; who wants a free one gets it; then the smallest free ones. */
static void number_kind(struct map_device **device, uint32_t count, unsigned kind, bool *taken)
{
	uint32_t next = 0;

	memset(taken, 0, NUMBERS * sizeof(*taken));
	taken[MAPPER_NUMBER_NONE] = true;
	for (uint32_t i = 0; i < count; i++)
		if (device[i]->facts.kind == kind)
			taken[device[i]->number] = true;
	for (uint32_t i = 0; i < count; i++) {
		uint16_t wanted = device[i]->facts.number;

		if (device[i]->facts.kind != kind || device[i]->number != MAPPER_NUMBER_NONE ||
			taken[wanted])
			continue;
		device[i]->number = wanted;
		taken[wanted] = true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (device[i]->facts.kind != kind || device[i]->number != MAPPER_NUMBER_NONE)
			continue;
		while (next < NUMBERS - 1 && taken[next])
			next++;
		device[i]->number = (uint16_t)next;
		taken[next] = true;
	}
}

int fabric_map_number(struct fabric_map *map)
{
	struct map_device **device = calloc(map->devices, sizeof(struct map_device *));
	bool *taken = calloc(NUMBERS, sizeof(*taken));
	int result = -ENOMEM;

	if (device == NULL || taken == NULL)
		goto out;
	for (uint32_t i = 0; i < map->devices; i++)
		device[i] = &map->device[i];
	qsort(device, map->devices, sizeof(struct map_device *), by_identity);
	number_kind(device, map->devices, 0, taken);
	number_kind(device, map->devices, 1, taken);
	result = 0;
out:
	free(device);
	free(taken);
	return result;
}

static void count_numbers(const struct fabric_map *map, uint32_t *switches, uint32_t *hosts)
{
	*switches = *hosts = 0;
	for (uint32_t i = 0; i < map->devices; i++) {
		uint32_t *count = kind_of(&map->device[i]) == DEVICE_SWITCH ? switches : hosts;

		if (map->device[i].number != MAPPER_NUMBER_NONE && map->device[i].number >= *count)
			*count = map->device[i].number + 1u;
	}
}

/* By its own name or, where that is empty or 'plain', by kind and identity. */
static void fill_device(const struct map_device *from, struct topology_device *device, bool plain)
{
	if (from->facts.name_length > 0 && !plain)
		snprintf(device->name, sizeof(device->name), "%s", from->facts.name);
	else
		snprintf(device->name, sizeof(device->name), "%s-%016" PRIx64,
			from->facts.kind == 0 ? "switch" : "host", from->id);
	device->ports = from->facts.ports;
	device->cut_off = from->facts.kind == 1;
}

static int add_cables(const struct fabric_map *map, struct topology *topology, uint32_t at)
{
	const struct map_device *device = &map->device[at];

	for (unsigned p = 0; p < device->facts.ports; p++) {
		const struct map_port *port = &device->port[p];
		const struct map_device *peer;
		struct topology_port a, b;

		if (port->state != MAP_LINKED || device->left_out > 0 ||
			map->device[port->peer].left_out > 0)
			continue;
		if (device->facts.kind == 1)
			topology->host_at[device->number].cut_off = false;
		if (port->peer < at || (port->peer == at && port->peer_port < p))
			continue;
		peer = &map->device[port->peer];
		a = (struct topology_port){kind_of(device), device->number, (uint8_t)p};
		b = (struct topology_port){kind_of(peer), peer->number, port->peer_port};
		if (topology_add_link(topology, a, b, 0, WEFT_TIME_NEVER, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void name_gaps(struct topology *topology)
{
	for (uint32_t i = 0; i < topology->switches; i++) {
		snprintf(topology->switch_at[i].name, TOPOLOGY_NAME_MAX, "no-switch-%u", i);
		topology->switch_at[i].ports = 1;
	}
	for (uint32_t i = 0; i < topology->hosts; i++) {
		snprintf(topology->host_at[i].name, TOPOLOGY_NAME_MAX, "no-host-%u", i);
		topology->host_at[i].cut_off = true;
	}
}

static struct topology_device *switch_of(struct topology *topology, struct topology_port port)
{
	return port.kind == DEVICE_SWITCH ? &topology->switch_at[port.device] : NULL;
}

/* One step away from the hosts; true if a stage has been found or lowered. */
static bool lower_stage(struct topology_device *from, struct topology_device *to)
{
	if (from == NULL || to == NULL || from->stage == TOPOLOGY_NO_STAGE ||
		from->stage == UINT8_MAX ||
		(to->stage != TOPOLOGY_NO_STAGE && to->stage <= from->stage + 1))
		return false;
	to->stage = from->stage + 1;
	return true;
}

/* Stages as a fat tree has them: distances from the hosts. Where cables lead from a stage to itself
 * they have no meaning, and no switch has one. */
static void find_stages(struct topology *topology)
{
	bool changed = true, tree = true;

	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_device *a = switch_of(topology, topology->link_at[i].a);
		struct topology_device *b = switch_of(topology, topology->link_at[i].b);

		if (a == NULL && b != NULL)
			b->stage = 1;
		else if (a != NULL && b == NULL)
			a->stage = 1;
	}
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < topology->links; i++) {
			struct topology_device *a = switch_of(topology, topology->link_at[i].a);
			struct topology_device *b = switch_of(topology, topology->link_at[i].b);

			changed |= lower_stage(a, b) || lower_stage(b, a);
		}
	}
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_device *a = switch_of(topology, topology->link_at[i].a);
		const struct topology_device *b = switch_of(topology, topology->link_at[i].b);

		tree &= a == NULL || b == NULL || a->stage != b->stage;
	}
	for (uint32_t i = 0; i < topology->switches && !tree; i++)
		topology->switch_at[i].stage = TOPOLOGY_NO_STAGE;
}

static struct topology *build(const struct fabric_map *map, bool plain, struct fault *fault)
{
	struct topology *topology;
	uint32_t switches, hosts;
	int result = 0;

	count_numbers(map, &switches, &hosts);
	topology = topology_create("map", switches, hosts);
	if (topology == NULL) {
		fault_set(fault, ENOMEM, "the map is too large for the memory");
		return NULL;
	}
	name_gaps(topology);
	for (uint32_t i = 0; i < map->devices; i++) {
		const struct map_device *device = &map->device[i];

		if (device->number != MAPPER_NUMBER_NONE)
			fill_device(device,
				device->facts.kind == 0 ? &topology->switch_at[device->number]
							: &topology->host_at[device->number],
				plain);
	}
	for (uint32_t i = 0; i < map->devices && result == 0; i++)
		result = add_cables(map, topology, i);
	if (result == 0) {
		find_stages(topology);
		result = topology_finish(topology, "map", fault);
	}
	if (result < 0) {
		topology_destroy(topology);
		errno = -result;
		return NULL;
	}
	return topology;
}

/* Names that two devices have are no names. */
struct topology *fabric_map_topology(const struct fabric_map *map, struct fault *fault)
{
	struct topology *topology = build(map, false, fault);

	return topology != NULL ? topology : build(map, true, fault);
}
