/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What a process does for mapped routes (docs/mapper.md, 'In a process'): the agents of all its
 * devices and, beside its candidate hosts, the mappers. Frames and links come from the devices'
 * poll loops, answers and tables go to them (device_control.h). Here is no clock and no thread:
 * control_plane_turn() does what there is to do at a moment, one thread calls it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "device_control.h"
#include "mapper.h"
#include "topology.h"

#define CONTROL_REQUEST_MAX 256

/* A device of this process. Its identity follows from kind and number, as in the link protocol. */
struct control_plane_device {
	enum device_kind kind;
	uint32_t number;
	bool candidate; /* a host that may be the mapper */
	uint16_t priority;
};

struct control_plane_config {
	const struct topology *topology; /* names, ports and how many; not its cables */
	const struct control_plane_device *device;
	unsigned devices;
	uint32_t session;             /* of this life, not 0 */
	uint64_t counter;             /* above all of former lives (a wall clock, say), or 0 */
	const struct fabric_key *key; /* NULL: none */
	struct mapper_config mapper;  /* session is filled in */
	weft_time lease_ps;           /* mapper_agent.h */
	weft_time report_retry_ps;    /* likewise */
	uint32_t frame_bytes;         /* of the longest frame */
	bool adaptive; /* switches are to choose among ports: tables without are told of */
	const struct topology *expect; /* what is to be found; NULL: nothing is */
	const char *announce; /* what differs from it is told, after this; NULL: it is not */
};

struct control_plane;

/* What 'config' points to outlives the plane. NULL with errno ENOMEM. */
struct control_plane *control_plane_create(
	const struct control_plane_config *config, weft_time now);
/* When no loop and no thread uses it any more. NULL is fine. */
void control_plane_destroy(struct control_plane *plane);

/* For the device's poll loop; the plane's. NULL: no such device here. */
struct device_control *control_plane_control(
	const struct control_plane *plane, enum device_kind kind, uint32_t number);

/* Does what is to be done at 'now', which does not go back. Returns when it is to be called again
 * at the latest if nothing comes from the loops: 'now' if there is more to be done at once. Routes
 * are computed in here, which may take long. 'wall' is the time by which the status says how long
 * changes took; 'now' may leave out what computing took. */
weft_time control_plane_turn(struct control_plane *plane, weft_time now, weft_time wall);

/* The oldest text that somebody is to be told, a line or more, and whether it is a warning; the
 * caller frees it. NULL: none. Of those that nobody takes the latest are kept. The caller of
 * control_plane_turn(). */
char *control_plane_message(struct control_plane *plane, bool *warning);

/* Something is under way: who polls may do so more often. The caller of control_plane_turn(). */
bool control_plane_is_busy(const struct control_plane *plane);

/* Why a mapper that leads here has no routes; NULL: none leads, or it has. The plane's. */
const char *control_plane_why(const struct control_plane *plane);

/* ---- From any one other thread. */

/* All devices here use tables, nobody is paused, and each host here has a route to every other host
 * of the topology. As of the last turn. */
bool control_plane_is_routed(const struct control_plane *plane);

/* A request, served in the next turn: false if too many wait.
 *     status PATH      writes what agents and mappers know of themselves as JSON
 *     map HOST PATH    writes the topology that this host's mapper has found, if it has
 * The file appears whole or not at all. */
bool control_plane_ask(struct control_plane *plane, const char *request);
