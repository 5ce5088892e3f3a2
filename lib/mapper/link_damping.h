/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Flap damping: a flapping link is held down when it comes up again, because each known link that
 * goes down calls off the current distribution, and without damping no other change would complete.
 * After its first loss a link is used again at once; from the second on it is held, twice as long
 * each time, until it has been up for LINK_HOLD_FORGET times the shortest hold. One thread; no
 * clock. */

#include "fabric_map.h"

#define LINK_HOLD_DOWNS_MAX 9
/* Twice the longest hold. */
#define LINK_HOLD_FORGET ((uint64_t)1 << (LINK_HOLD_DOWNS_MAX - 1))

struct link_damping {
	weft_time shortest_ps;
	weft_time next; /* the earliest end of a hold; WEFT_TIME_NEVER */
};

/* Records that the link went down or up. */
void link_damping_record(struct link_damping *hold, struct map_port *port, bool up, weft_time now);

/* Returns a link that is up, not yet in the map, and no longer held. Call until false; each link is
 * returned once. */
bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port);

static inline bool link_is_held(const struct map_port *port, weft_time now)
{
	return port->state != MAP_LINKED && now < port->held_until;
}
