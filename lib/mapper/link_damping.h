/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Links that go and come again and again are left alone for a while when they come: each one that
 * the map knows and that goes calls off what is being distributed, and without an end of that no
 * other change would be made. The first time a link is used again at once; from the second on it is
 * held, for twice as long each time it goes, until it has stayed for LINK_HOLD_FORGET times the
 * shortest hold. One thread; no clock.
 */

#include "fabric_map.h"

#define LINK_HOLD_DOWNS_MAX 9
/* Twice the longest hold. */
#define LINK_HOLD_FORGET ((uint64_t)1 << (LINK_HOLD_DOWNS_MAX - 1))

struct link_damping {
	weft_time shortest_ps;
	weft_time next; /* no held link is to be asked about before; WEFT_TIME_NEVER */
};

/* It has gone, or has come. */
void link_damping_note(struct link_damping *hold, struct map_port *port, bool up, weft_time now);

/* A link that is up, that the map does not use yet, and that is no longer held: to be called until
 * it is false. Each is told once. */
bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port);

static inline bool link_is_held(const struct map_port *port, weft_time now)
{
	return port->state != MAP_LINKED && now < port->held_until;
}
