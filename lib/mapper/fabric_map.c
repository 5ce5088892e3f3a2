/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fabric_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"

#define FIRST_ROOM 64

int fabric_map_init(struct fabric_map *map)
{
	*map = (struct fabric_map){.room = FIRST_ROOM, .slots = 2 * FIRST_ROOM};
	map->device = calloc(map->room, sizeof(*map->device));
	map->slot = malloc(map->slots * sizeof(*map->slot));
	if (map->device == NULL || map->slot == NULL) {
		fabric_map_fini(map);
		return -ENOMEM;
	}
	memset(map->slot, 0xFF, map->slots * sizeof(*map->slot));
	return 0;
}

void fabric_map_fini(struct fabric_map *map)
{
	for (uint32_t i = 0; i < map->devices; i++)
		free(map->device[i].port);
	free(map->device);
	free(map->slot);
	*map = (struct fabric_map){0};
}

static uint32_t *slot_of(const struct fabric_map *map, uint64_t id)
{
	uint32_t at = (uint32_t)(rng_mix(id) & (map->slots - 1));

	while (map->slot[at] != MAP_NONE && map->device[map->slot[at]].id != id)
		at = (at + 1) & (map->slots - 1);
	return &map->slot[at];
}

uint32_t fabric_map_find(const struct fabric_map *map, uint64_t id)
{
	return *slot_of(map, id);
}

static bool grow(struct fabric_map *map)
{
	struct map_device *device = realloc(map->device, 2u * map->room * sizeof(*device));
	uint32_t *slot;

	if (device == NULL)
		return false;
	map->device = device;
	slot = realloc(map->slot, 2u * map->slots * sizeof(*slot));
	if (slot == NULL)
		return false;
	map->slot = slot;
	map->room *= 2;
	map->slots *= 2;
	memset(slot, 0xFF, map->slots * sizeof(*slot));
	for (uint32_t i = 0; i < map->devices; i++)
		*slot_of(map, device[i].id) = i;
	return true;
}

uint32_t fabric_map_add(struct fabric_map *map, uint64_t id, const struct mapper_reply *facts)
{
	struct map_port *port;
	uint32_t at;

	if (map->devices == map->room && !grow(map))
		return MAP_NONE;
	port = calloc(facts->ports, sizeof(*port));
	if (port == NULL)
		return MAP_NONE;
	at = map->devices++;
	map->device[at] = (struct map_device){.id = id,
		.facts = *facts,
		.number = MAPPER_NUMBER_NONE,
		.parent = MAP_NONE,
		.port = port};
	*slot_of(map, id) = at;
	return at;
}

static void link_to(struct map_port *port, uint32_t peer, uint8_t peer_port)
{
	port->state = MAP_LINKED;
	port->peer = peer;
	port->peer_port = peer_port;
}

void fabric_map_connect(
	struct fabric_map *map, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b)
{
	const struct map_port *port = &map->device[a].port[port_a];

	if (port->state == MAP_LINKED && port->peer == b && port->peer_port == port_b)
		return;
	link_to(&map->device[a].port[port_a], b, port_b);
	link_to(&map->device[b].port[port_b], a, port_a);
	map->changes++;
}

void fabric_map_cut(struct fabric_map *map, uint32_t at, uint8_t port, enum map_port_state state)
{
	struct map_port *end = &map->device[at].port[port];

	if (end->state == MAP_LINKED) {
		map->device[end->peer].port[end->peer_port].state = (uint8_t)state;
		map->changes++;
	}
	end->state = (uint8_t)state;
}

struct way {
	uint32_t parent;
	uint8_t parent_port, entry, depth;
	bool reached;
};

static void take_way(struct fabric_map *map, uint32_t at, const struct way *way, bool parent_moved)
{
	struct map_device *device = &map->device[at];

	device->moved |= parent_moved || !device->present || way->parent != device->parent ||
			 way->parent_port != device->parent_port || way->entry != device->entry;
	device->present = true;
	device->parent = way->parent;
	device->parent_port = way->parent_port;
	device->entry = way->entry;
	device->depth = way->depth;
}

static void search(struct fabric_map *map, struct way *way, uint32_t *queue, uint32_t *found)
{
	uint32_t head = 0, tail = 0;

	way[0] = (struct way){.parent = MAP_NONE, .reached = true};
	for (queue[tail++] = 0; head < tail; head++) {
		uint32_t at = queue[head];
		const struct map_device *device = &map->device[at];

		for (unsigned p = 0; p < device->facts.ports; p++) {
			const struct map_port *port = &device->port[p];

			if (port->state != MAP_LINKED || way[port->peer].reached ||
				way[at].depth + 2 > MAPPER_BACK_MAX ||
				(device->facts.kind != 0 && at != 0))
				continue;
			way[port->peer] = (struct way){.parent = at,
				.parent_port = (uint8_t)p,
				.entry = port->peer_port,
				.depth = (uint8_t)(way[at].depth + (at != 0)),
				.reached = true};
			queue[tail++] = port->peer;
		}
	}
	*found = tail;
}

static void lose(struct fabric_map *map, uint32_t at)
{
	struct map_device *device = &map->device[at];

	device->present = device->moved = false;
	for (unsigned p = 0; p < device->facts.ports; p++)
		if (device->port[p].state == MAP_LINKED)
			fabric_map_cut(map, at, (uint8_t)p, MAP_UNKNOWN);
}

int fabric_map_find_ways(struct fabric_map *map)
{
	struct arrays scratch = {0};
	struct way *way = arrays_add(&scratch, map->devices, sizeof(*way));
	uint32_t *queue = arrays_add(&scratch, map->devices, sizeof(*queue)), found;

	if (scratch.failed) {
		arrays_free(&scratch);
		return -ENOMEM;
	}
	search(map, way, queue, &found);
	for (uint32_t i = 0; i < found; i++) {
		uint32_t parent = way[queue[i]].parent;

		take_way(map, queue[i], &way[queue[i]],
			parent != MAP_NONE && parent != 0 && map->device[parent].moved);
	}
	for (uint32_t i = 0; i < map->devices; i++)
		if (!way[i].reached)
			lose(map, i);
	map->device[0].moved = false;
	arrays_free(&scratch);
	return 0;
}

void fabric_map_way(const struct fabric_map *map, uint32_t to, uint8_t ports[MAPPER_BACK_MAX])
{
	for (; map->device[to].depth > 0; to = map->device[to].parent)
		ports[map->device[to].depth - 1] =
			(uint8_t)(ROUTE_PORT_BIT | map->device[to].parent_port);
}

unsigned fabric_map_back(const struct fabric_map *map, uint32_t at, uint8_t back[MAPPER_BACK_MAX])
{
	unsigned length = 0;

	for (; at != 0; at = map->device[at].parent)
		back[length++] = (uint8_t)(ROUTE_PORT_BIT | map->device[at].entry);
	back[length++] = ROUTE_TYPE_AGENT;
	return length;
}

void map_command_build(const struct fabric_map *map, uint32_t to, struct mapper_speaker *speaker,
	struct mapper_message *message, struct mapper_frame *frame)
{
	const struct map_device *device = &map->device[to];
	uint8_t route[MAPPER_BACK_MAX];
	unsigned length = device->depth;

	message->target = device->id;
	message->target_session = device->facts.session;
	message->command.back_length =
		(uint8_t)fabric_map_back(map, to == 0 ? 0 : device->parent, message->command.back);
	fabric_map_way(map, to, route);
	route[length++] = ROUTE_TYPE_AGENT;
	mapper_frame_build(speaker, message, route, length, frame);
	frame->port = to == 0 ? MAPPER_PORT_LOCAL : 0;
}
