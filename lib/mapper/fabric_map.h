/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A mapper's map of its fabric: devices by identity, their ports and cables, and the route to each
 * device. Device 0 is the mapper's own interface. Devices and their numbers are never removed; a
 * lost device is marked absent. Single-threaded. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/replay_window.h"
#include "base/weft_time.h"
#include "mapper_frame.h"
#include "topo/topology.h"

#define MAP_NONE UINT32_MAX

enum map_port_state {
	MAP_UNKNOWN,
	MAP_EMPTY,  /* no neighbour at the link layer */
	MAP_SILENT, /* no answer, although there may be a device */
	MAP_LINKED,
};

struct map_port {
	uint8_t state; /* enum map_port_state */
	uint8_t peer_port;
	uint8_t downs; /* recent link losses (discovery.h) */
	uint32_t peer;
	weft_time down_at;    /* time of the last loss */
	weft_time held_until; /* end of the link's hold; 0: not held */
};

struct map_device {
	uint64_t id;
	struct mapper_reply facts; /* last reply from the device */
	uint32_t known_in;         /* table generation that it is known to use; 0: unknown */
	uint16_t number;           /* switch or host number; MAPPER_NUMBER_NONE */
	bool present;
	uint8_t lives;   /* restarts since discovery_forget_findings() */
	uint32_t former; /* session before the last counted restart; 0: none */
	bool moved;      /* its route changed, and it has not been notified yet */
	/* Consecutive images refused by the device, and sweeps for which it is therefore left out
	 * of the topology; 0: not left out. */
	uint8_t refusals, left_out;
	uint32_t parent; /* previous device on the route; MAP_NONE for device 0 */
	uint8_t parent_port, entry;
	uint8_t depth; /* number of ports on its route */
	struct replay_window window;
	struct map_port *port; /* [facts.ports] */
};

struct fabric_map {
	struct map_device *device;
	uint32_t devices, room;
	uint32_t *slot; /* hash table of identities; MAP_NONE: free */
	uint32_t slots;
	uint64_t changes; /* number of changed cables and restarted devices */
};

/* Returns 0 or -ENOMEM. */
int fabric_map_init(struct fabric_map *map);
void fabric_map_fini(struct fabric_map *map);

uint32_t fabric_map_find(const struct fabric_map *map, uint64_t id);
/* Adds a new device without cables or number. Returns MAP_NONE if out of memory. */
uint32_t fabric_map_add(struct fabric_map *map, uint64_t id, const struct mapper_reply *facts);

void fabric_map_connect(
	struct fabric_map *map, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b);
/* Removes the cable at this port and sets the state of both ends. */
void fabric_map_cut(struct fabric_map *map, uint32_t at, uint8_t port, enum map_port_state state);

/* Breadth-first search from device 0: finds the route to each device, and which devices are present
 * or have moved. Removes the cables of unreachable devices. Returns 0 or -ENOMEM. */
int fabric_map_find_ways(struct fabric_map *map);

/* Stores the ports of the route from device 0's neighbour to 'to', as many as the depth of 'to'. */
void fabric_map_way(const struct fabric_map *map, uint32_t to, uint8_t ports[MAPPER_BACK_MAX]);
/* Stores the return route for answers that pass through 'at': the ports from there to device 0, and
 * the agent's element. For device 0, stores only the agent's element. Returns the number of
 * elements. */
unsigned fabric_map_back(const struct fabric_map *map, uint32_t at, uint8_t back[MAPPER_BACK_MAX]);

/* Numbers devices that have no number (docs/explanation/the-mapper.md). Returns 0 or -ENOMEM. */
int fabric_map_number(struct fabric_map *map);

/* Returns the cables as a finished topology with the devices' numbers, and with stages if it is a
 * fat tree. Absent and left-out devices become switches without cables, or hosts that are cut off.
 * Returns NULL with error -ENOMEM. The caller owns the topology. */
struct topology *fabric_map_topology(const struct fabric_map *map, struct error *error);

/* Returns the discovered topology for users: the present devices and all cables between them,
 * including devices that are left out of routes. Numbers have no gaps; names are as above. The
 * mapper's host may be cut off. Returns NULL with error -ENOMEM. The caller owns the topology. */
struct topology *fabric_map_found(const struct fabric_map *map, struct error *error);

/* Builds a command to device 'to', which must be present. The caller fills in the type with its
 * body, and the mapper's priority and session. This function fills in receiver and return route,
 * and mapper_frame_build() the rest. The frame is for port 0 or the local agent. */
void map_command_build(const struct fabric_map *map, uint32_t to, struct mapper_speaker *speaker,
	struct mapper_message *message, struct mapper_frame *frame);

/* Differences between the discovered and the expected topology (weft-nic --expect TOPO). Devices
 * are matched by name, regardless of their numbers. */

/* Writes a line per difference, unless 'out' is NULL: a missing or unexpected device, or a
 * different number of ports; a missing cable, with the actual peers of its ends; a cable between
 * ports that should be free. Returns the number of differences. */
unsigned miscabling_report(
	const struct topology *found, const struct topology *expected, FILE *out);
