/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* New routes that avoid failed links after an event ('mapper.after': the time that a mapper needs
 * to discover the fabric, and to compute and distribute routes).
 *
 * As in the mapper (lib/mapper/transition_check.h), the union of old and new routes is checked
 * first. If it has no cycle of channels, the new routes are used immediately, while packets with
 * old routes are still in transit. Otherwise hosts pause until the fabric is empty, or for
 * 'mapper.drain', after which switches discard stored packets. 'reconfigure.mode' can enforce one
 * of these, or a bridge (route/search/itb_routes.h) until all packets with old routes have arrived.
 * Packets whose old route includes a dead link are discarded there, counted and resent. Runs
 * between rounds, identically in all processes. */

#include "virtual_private.h"

struct virtual_reroute;

/* Does nothing without 'mapper.after'. Returns 0 or -ENOMEM. */
int virtual_reroute_open(struct virtual_fabric *fabric);
/* Call before the fabric's routes are freed. */
void virtual_reroute_close(struct virtual_fabric *fabric);

/* Identifies the route of a packet in transit: its index among the routes of its pair, and the set.
 * The sets used so far have the same numbers in all processes. */
struct virtual_route_number {
	uint32_t set : 24, which : 8;
};
struct virtual_route_number virtual_reroute_number(
	const struct virtual_fabric *fabric, const struct weft_packet *packet);
const struct route_set *virtual_reroute_set(const struct virtual_fabric *fabric, uint32_t number);

/* Call when a cable is cut or rejoined. */
void virtual_reroute_note(struct virtual_fabric *fabric, weft_time now);
/* Returns when virtual_reroute_poll() has work to do, or WEFT_TIME_NEVER. */
weft_time virtual_reroute_due(const struct virtual_fabric *fabric);
/* Returns true if new routes have just come into use. */
bool virtual_reroute_poll(struct virtual_fabric *fabric, weft_time now);
/* Adds warnings about events after which no new routes were found, or only after a pause. */
void virtual_reroute_result(const struct virtual_fabric *fabric, struct run_result *result);

/* Mappers and agents of a virtual fabric ('mapper.after: mapper'; mapper_network.h). Before the run
 * they elect a leader, which maps the fabric and distributes routes. During the run their frames
 * occupy cables, ahead of data that has not started to leave, and are lost on cut cables. Each
 * device changes its tables when it commits. They run between two events; the fabric has a single
 * worker. */

/* Does nothing unless the run has events and uses mappers. Returns 0, -EINVAL or -ENOMEM. */
int virtual_mapper_open(struct virtual_fabric *fabric, struct error *error);
void virtual_mapper_close(struct virtual_fabric *fabric);

/* The functions below also do nothing without mappers. */
weft_time virtual_mapper_due(const struct virtual_fabric *fabric);
/* Returns true if the devices of a mapper have just started using new routes. */
bool virtual_mapper_poll(struct virtual_fabric *fabric, weft_time now);
/* Call the first when a cable is cut, and the second when its ends detect that it is up or down. */
void virtual_mapper_cut(struct virtual_fabric *fabric, uint32_t link);
void virtual_mapper_notice(struct virtual_fabric *fabric, uint32_t link, bool up, weft_time now);
/* Returns true if routes of a mapper, or of devices at the cable's ends, may use it. */
bool virtual_mapper_uses(const struct virtual_fabric *fabric, uint32_t link);
/* Returns the number of route sets in memory. */
uint32_t virtual_mapper_sets(const struct virtual_fabric *fabric);

void virtual_mapper_result(const struct virtual_fabric *fabric, struct run_result *result);
