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

/* Assigns the number that a device has, the requested number if free, or the lowest free one. */
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

struct drawing {
	const struct fabric_map *map;
	uint32_t *number;  /* [map device] switch or host number in the topology; MAP_NONE: not
			      included */
	uint32_t count[2]; /* number of devices by enum device_kind */
	bool left_out;     /* include cables of devices that are left out of routes */
	bool plain;        /* ignore the devices' own names */
};

/* Uses the assigned numbers, including those that absent devices have. */
static void number_all(struct drawing *drawing)
{
	for (uint32_t i = 0; i < drawing->map->devices; i++) {
		const struct map_device *device = &drawing->map->device[i];
		uint32_t *count = &drawing->count[kind_of(device)];

		if (device->number == MAPPER_NUMBER_NONE)
			continue;
		drawing->number[i] = device->number;
		if (device->number >= *count)
			*count = device->number + 1u;
	}
}

static int by_number(const void *a, const void *b)
{
	const struct map_device *x = *(struct map_device *const *)a;
	const struct map_device *y = *(struct map_device *const *)b;

	return x->number != y->number ? x->number - y->number : by_identity(a, b);
}

/* Numbers the present devices without gaps, in the order of their assigned numbers. */
static int number_present(struct drawing *drawing)
{
	const struct fabric_map *map = drawing->map;
	struct map_device **device = calloc(map->devices + 1u, sizeof(struct map_device *));
	uint32_t present = 0;

	if (device == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->devices; i++)
		if (map->device[i].present)
			device[present++] = &map->device[i];
	qsort(device, present, sizeof(struct map_device *), by_number);
	for (uint32_t i = 0; i < present; i++)
		drawing->number[device[i] - map->device] = drawing->count[kind_of(device[i])]++;
	free(device);
	return 0;
}

/* Uses the device's own name or, if that is empty or 'plain' is set, its kind and identity. */
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

static bool is_drawn(const struct drawing *drawing, uint32_t device)
{
	return drawing->number[device] != MAP_NONE &&
	       (drawing->left_out || drawing->map->device[device].left_out == 0);
}

static struct topology_port end_of(const struct drawing *drawing, uint32_t device, uint8_t port)
{
	return (struct topology_port){
		kind_of(&drawing->map->device[device]), drawing->number[device], port};
}

static int add_cables(const struct drawing *drawing, struct topology *topology, uint32_t at)
{
	const struct map_device *device = &drawing->map->device[at];

	for (unsigned p = 0; p < device->facts.ports; p++) {
		const struct map_port *port = &device->port[p];

		if (port->state != MAP_LINKED || !is_drawn(drawing, at) ||
			!is_drawn(drawing, port->peer))
			continue;
		if (kind_of(device) == DEVICE_HOST)
			topology->host_at[drawing->number[at]].cut_off = false;
		if (port->peer < at || (port->peer == at && port->peer_port < p))
			continue;
		if (topology_add_link(topology, end_of(drawing, at, (uint8_t)p),
			    end_of(drawing, port->peer, port->peer_port), 0, WEFT_TIME_NEVER,
			    0) < 0)
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

/* Sets 'to' one stage above 'from'. Returns true if the stage of 'to' was found or lowered. */
static bool lower_stage(struct topology_device *from, struct topology_device *to)
{
	if (from == NULL || to == NULL || from->stage == TOPOLOGY_NO_STAGE ||
		from->stage == UINT8_MAX ||
		(to->stage != TOPOLOGY_NO_STAGE && to->stage <= from->stage + 1))
		return false;
	to->stage = from->stage + 1;
	return true;
}

/* Finds the stages of a fat tree, which are distances from the hosts. If a cable connects two
 * switches of the same stage, there is no tree and no switch has a stage. */
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

static void fill_devices(const struct drawing *drawing, struct topology *topology)
{
	name_gaps(topology);
	for (uint32_t i = 0; i < drawing->map->devices; i++) {
		const struct map_device *device = &drawing->map->device[i];
		uint32_t number = drawing->number[i];

		if (number != MAP_NONE)
			fill_device(device,
				kind_of(device) == DEVICE_SWITCH ? &topology->switch_at[number]
								 : &topology->host_at[number],
				drawing->plain);
	}
}

static struct topology *draw(const struct drawing *drawing, struct error *error)
{
	struct topology *topology =
		topology_create("map", drawing->count[DEVICE_SWITCH], drawing->count[DEVICE_HOST]);
	int result = 0;

	if (topology == NULL) {
		error_set(error, ENOMEM, "not enough memory for the map");
		return NULL;
	}
	fill_devices(drawing, topology);
	for (uint32_t i = 0; i < drawing->map->devices && result == 0; i++)
		result = add_cables(drawing, topology, i);
	if (result == 0) {
		find_stages(topology);
		result = topology_finish(topology, "map", error);
	}
	if (result < 0) {
		topology_destroy(topology);
		errno = -result;
		return NULL;
	}
	return topology;
}

static struct topology *draw_named(struct drawing *drawing, struct error *error)
{
	struct topology *topology = draw(drawing, error);

	drawing->plain = true;
	return topology != NULL ? topology : draw(drawing, error);
}

static struct topology *draw_map(const struct fabric_map *map, bool found, struct error *error)
{
	struct drawing drawing = {
		.map = map,
		.number = malloc((map->devices + 1u) * sizeof(uint32_t)),
		.left_out = found,
	};
	struct topology *topology = NULL;
	int result = drawing.number != NULL ? 0 : -ENOMEM;

	if (result == 0)
		memset(drawing.number, 0xff, map->devices * sizeof(uint32_t));
	if (result == 0 && found)
		result = number_present(&drawing);
	else if (result == 0)
		number_all(&drawing);
	if (result == 0)
		topology = draw_named(&drawing, error);
	else
		error_set(error, ENOMEM, "not enough memory for the map");
	free(drawing.number);
	return topology;
}

struct topology *fabric_map_topology(const struct fabric_map *map, struct error *error)
{
	return draw_map(map, false, error);
}

struct topology *fabric_map_found(const struct fabric_map *map, struct error *error)
{
	return draw_map(map, true, error);
}
