/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "link_damping.h"

static void note_down(const struct link_damping *hold, struct map_port *port, weft_time now)
{
	if (port->downs > 0 && now - port->down_at > hold->shortest_ps * LINK_HOLD_FORGET)
		port->downs = 0;
	if (port->downs < LINK_HOLD_DOWNS_MAX)
		port->downs++;
	port->down_at = now;
	port->held_until = 0;
}

void link_damping_record(struct link_damping *hold, struct map_port *port, bool up, weft_time now)
{
	if (!up) {
		note_down(hold, port, now);
		return;
	}
	if (port->downs < 2)
		return;
	port->held_until = now + (hold->shortest_ps << (port->downs - 2));
	if (port->held_until < hold->next)
		hold->next = port->held_until;
}

bool link_damping_next(struct link_damping *hold, struct fabric_map *map, weft_time now,
	uint32_t *device, uint8_t *port)
{
	if (now < hold->next)
		return false;
	hold->next = WEFT_TIME_NEVER;
	for (*device = 0; *device < map->devices; ++*device)
		for (*port = 0; *port < map->device[*device].facts.ports; ++*port) {
			struct map_port *at = &map->device[*device].port[*port];

			if (at->held_until == 0)
				continue;
			if (now >= at->held_until) {
				at->held_until = 0;
				hold->next = 0; /* there may be more */
				return true;
			}
			if (at->held_until < hold->next)
				hold->next = at->held_until;
		}
	return false;
}
