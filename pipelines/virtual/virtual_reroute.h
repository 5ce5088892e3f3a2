/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* New routes that avoid failed links after an event ('mapper.after', the time that a mapper needs
 * to discover, compute and distribute).
 *
 * As in the mapper (lib/mapper/transition_check.h), the union of old and new routes is checked
 * first. If it has no cycle of channels, the new routes are used at once, while packets with old
 * routes are still in transit. Otherwise hosts pause until the fabric is empty, or for
 * 'mapper.drain', after which switches discard what they store. 'reconfigure.mode' chooses one of
 * the two, or a bridge (route/search/itb_routes.h) until all packets with old routes have arrived.
 * Packets whose old route leads over a dead link are discarded there, counted and sent again. Runs
 * between rounds, alike in all processes. */

#include "virtual_private.h"

struct virtual_reroute;

/* Does nothing without 'mapper.after'. Returns 0 or -ENOMEM. */
int virtual_reroute_open(struct virtual_fabric *fabric);
/* Call this before the routes of the fabric are freed. */
void virtual_reroute_close(struct virtual_fabric *fabric);

/* The routes of a packet in transit: its number among the routes of its pair, and the set. The sets
 * that have been in use have the same numbers in all processes. */
struct virtual_route_number {
	uint32_t set : 24, which : 8;
};
struct virtual_route_number virtual_reroute_number(
	const struct virtual_fabric *fabric, const struct weft_packet *packet);
const struct route_set *virtual_reroute_set(const struct virtual_fabric *fabric, uint32_t number);

/* A cable was cut or joined. */
void virtual_reroute_note(struct virtual_fabric *fabric, weft_time now);
/* The time at which virtual_reroute_poll() has work to do; WEFT_TIME_NEVER: never. */
weft_time virtual_reroute_due(const struct virtual_fabric *fabric);
/* Returns true if new routes are in use from now on. */
bool virtual_reroute_poll(struct virtual_fabric *fabric, weft_time now);
/* Warns of events after which no new routes were found, or only after a pause. */
void virtual_reroute_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Mappers and agents of a virtual fabric ('mapper.after: mapper'; mapper_network.h). Before the run
 * they elect a leader, which maps the fabric and distributes routes. During it their frames occupy
 * cables, ahead of data that has not begun to leave, and are lost on cut ones; each device changes
 * its tables when it commits. They run between two events of the fabric, which has a single
 * worker. */

/* Does nothing unless the run has events and asks for it. 0, -EINVAL, -ENOMEM. */
int virtual_mapper_open(struct virtual_fabric *fabric, struct error *error);
void virtual_mapper_close(struct virtual_fabric *fabric);

/* The others also do nothing without mappers. */
weft_time virtual_mapper_due(const struct virtual_fabric *fabric);
/* True: the devices of a mapper use new routes from now on. */
bool virtual_mapper_poll(struct virtual_fabric *fabric, weft_time now);
/* Call the first when a cable is cut, the second when its ends detect that it is up or down. */
void virtual_mapper_cut(struct virtual_fabric *fabric, uint32_t link);
void virtual_mapper_notice(struct virtual_fabric *fabric, uint32_t link, bool up, weft_time now);
/* Routes of some mapper, or of devices at the cable's ends, may use it. */
bool virtual_mapper_uses(const struct virtual_fabric *fabric, uint32_t link);
/* Sets of source routes in memory. */
uint32_t virtual_mapper_sets(const struct virtual_fabric *fabric);

void virtual_mapper_result(const struct virtual_fabric *fabric, struct run_result *result);
