/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a mapper knows of its fabric: devices by identity, their ports and cables, and the way to
 * each of them. Device 0 is the interface where the mapper is. Devices and their numbers are never
 * taken out; what is gone is marked as absent. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "mapper_message.h"
#include "replay_window.h"
#include "topology.h"
#include "weft_time.h"

#define MAP_NONE UINT32_MAX

enum map_port_state {
	MAP_UNKNOWN,
	MAP_EMPTY,  /* the link layer knows nobody there */
	MAP_SILENT, /* somebody may be there, nobody answers */
	MAP_LINKED,
};

struct map_port {
	uint8_t state; /* enum map_port_state */
	uint8_t peer_port;
	uint8_t downs; /* how often it went lately (link_damping.h) */
	uint32_t peer;
	weft_time down_at;    /* the last time */
	weft_time held_until; /* not to be used before; 0: it is not held */
};

struct map_device {
	uint64_t id;
	struct mapper_reply facts; /* its last reply */
	uint32_t known_in;         /* generation of tables that it is known to use; 0: not known */
	uint16_t number;           /* as switch or as host; MAPPER_NUMBER_NONE */
	bool present;
	uint8_t lives;   /* new ones since discovery_look_again() */
	uint32_t former; /* session before the last new life since then; 0: none */
	bool moved;      /* the way to it has changed and it does not know yet */
	/* Images in a row that it did not take, and the sweeps for which it is therefore left out
	 * of the topology; 0: it is not. */
	uint8_t refusals, left_out;
	uint32_t parent; /* the device before it on the way, MAP_NONE of device 0 */
	uint8_t parent_port, entry;
	uint8_t depth; /* ports on the way to it */
	struct replay_window window;
	struct map_port *port; /* [facts.ports] */
};

struct fabric_map {
	struct map_device *device;
	uint32_t devices, room;
	uint32_t *slot; /* hash of identities; MAP_NONE: free */
	uint32_t slots;
	uint64_t changes; /* of cables, and of devices' lives */
};

/* -ENOMEM. */
int fabric_map_init(struct fabric_map *map);
void fabric_map_fini(struct fabric_map *map);

uint32_t fabric_map_find(const struct fabric_map *map, uint64_t id);
/* A device that was not there, without cables and without number. MAP_NONE without memory. */
uint32_t fabric_map_add(struct fabric_map *map, uint64_t id, const struct mapper_reply *facts);

void fabric_map_connect(
	struct fabric_map *map, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b);
/* Both ends get this state. */
void fabric_map_cut(struct fabric_map *map, uint32_t at, uint8_t port, enum map_port_state state);

/* Breadth first from device 0: the way to each device; which are present, and which have moved.
 * What is no longer reached loses its cables. -ENOMEM. */
int fabric_map_find_ways(struct fabric_map *map);

/* The ports from device 0's neighbour to 'to', 'ports' of them: depth of 'to'. */
void fabric_map_way(const struct fabric_map *map, uint32_t to, uint8_t ports[FRAME_ROUTE_MAX]);
/* The ports by which an answer from beyond 'at' travels on from 'at' to device 0, and the agent's
 * element; returns the elements. Of device 0 it is the agent's element alone. */
unsigned fabric_map_back(const struct fabric_map *map, uint32_t at, uint8_t back[FRAME_ROUTE_MAX]);

/* Numbers for devices that have none (docs/mapper.md, 'Discovery'). */
int fabric_map_number(struct fabric_map *map);

/* The cables as a finished topology whose numbers are those of the devices, with stages where they
 * make a fat tree: what is absent or left out is a switch without cables or a host that is cut off.
 * NULL with fault: -ENOMEM. The caller's. */
struct topology *fabric_map_topology(const struct fabric_map *map, struct fault *fault);

/* What is there, for people: devices that are present and all cables that were found between them,
 * those too that are left out of routes. Numbers have no gaps; names are as above. The host where
 * the mapper is may be cut off. NULL with fault: -ENOMEM. The caller's. */
struct topology *fabric_map_found(const struct fabric_map *map, struct fault *fault);
