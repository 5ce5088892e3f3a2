/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A mapper's map of its fabric: devices by identity, their ports and cables, and the route to each
 * device. Device 0 is the mapper's own interface. Devices and their numbers are never removed; a
 * lost device is marked absent. One thread. */

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
	MAP_EMPTY,  /* the link layer sees no neighbour */
	MAP_SILENT, /* a device may be there, but none answers */
	MAP_LINKED,
};

struct map_port {
	uint8_t state; /* enum map_port_state */
	uint8_t peer_port;
	uint8_t downs; /* recent link losses (discovery.h) */
	uint32_t peer;
	weft_time down_at;    /* time of the last loss */
	weft_time held_until; /* not to be used before then; 0: not held */
};

struct map_device {
	uint64_t id;
	struct mapper_reply facts; /* its last reply */
	uint32_t known_in;         /* the table generation that it is known to use; 0: unknown */
	uint16_t number;           /* as switch or as host; MAPPER_NUMBER_NONE */
	bool present;
	uint8_t lives;   /* restarts since discovery_forget_findings() */
	uint32_t former; /* session before the last such restart; 0: none */
	bool moved;      /* the route to it changed, and it has not been told yet */
	/* Number of consecutive images that it refused, and of the sweeps for which it is therefore
	 * left out of the topology; 0: it is not left out. */
	uint8_t refusals, left_out;
	uint32_t parent; /* previous device on the route; MAP_NONE for device 0 */
	uint8_t parent_port, entry;
	uint8_t depth; /* ports on the route to it */
	struct replay_window window;
	struct map_port *port; /* [facts.ports] */
};

struct fabric_map {
	struct map_device *device;
	uint32_t devices, room;
	uint32_t *slot; /* hash of identities; MAP_NONE: free */
	uint32_t slots;
	uint64_t changes; /* changed cables and restarted devices */
};

/* -ENOMEM. */
int fabric_map_init(struct fabric_map *map);
void fabric_map_fini(struct fabric_map *map);

uint32_t fabric_map_find(const struct fabric_map *map, uint64_t id);
/* Adds a new device without cables or number. Returns MAP_NONE if out of memory. */
uint32_t fabric_map_add(struct fabric_map *map, uint64_t id, const struct mapper_reply *facts);

void fabric_map_connect(
	struct fabric_map *map, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b);
/* Sets both ends to this state. */
void fabric_map_cut(struct fabric_map *map, uint32_t at, uint8_t port, enum map_port_state state);

/* Breadth-first search from device 0: finds the route to each device, which devices are present,
 * and which have moved. An unreachable device loses its cables. May return -ENOMEM. */
int fabric_map_find_ways(struct fabric_map *map);

/* The ports from device 0's neighbour to 'to'; their number is the depth of 'to'. */
void fabric_map_way(const struct fabric_map *map, uint32_t to, uint8_t ports[MAPPER_BACK_MAX]);
/* The ports from 'at' to device 0 for an answer from beyond 'at', and the agent's element; returns
 * the number of elements. For device 0 there is only the agent's element. */
unsigned fabric_map_back(const struct fabric_map *map, uint32_t at, uint8_t back[MAPPER_BACK_MAX]);

/* Assigns numbers to devices that have none (docs/explanation/the-mapper.md, 'Discovery'). */
int fabric_map_number(struct fabric_map *map);

/* The cables as a finished topology with the devices' numbers, with stages if it is a fat tree.
 * Absent and left-out devices become switches without cables, or hosts that are cut off. Returns
 * NULL with error: -ENOMEM. The caller owns it. */
struct topology *fabric_map_topology(const struct fabric_map *map, struct error *error);

/* The discovered topology for users: the present devices and all cables between them, including
 * devices that are left out of routes. Numbers have no gaps; names are as above. The mapper's host
 * may be cut off. Returns NULL with error: -ENOMEM. The caller owns it. */
struct topology *fabric_map_found(const struct fabric_map *map, struct error *error);

/* Builds a command to device 'to' of the map, which must be present. The caller fills type, the
 * mapper's priority and session, and the body of the type, but not receiver, return route and the
 * fields that mapper_frame_build() fills. The frame leaves through port 0, or goes to the local
 * agent. */
void map_command_build(const struct fabric_map *map, uint32_t to, struct mapper_speaker *speaker,
	struct mapper_message *message, struct mapper_frame *frame);

/* Differences between the discovered and the expected topology (weft-nic --expect TOPO). Devices
 * are the same if they have the same name; numbers do not matter. */

/* Writes a line for each difference, unless 'out' is NULL: a device that is missing, unexpected or
 * has another number of ports; a missing cable, with the actual peers of its ends; a cable between
 * ports that should be free. Returns the number of differences. */
unsigned miscabling_report(
	const struct topology *found, const struct topology *expected, FILE *out);
