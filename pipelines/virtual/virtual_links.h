/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a virtual fabric: sending ends, and all ends' credits as after start-up. */

#include "virtual_private.h"

int virtual_links_create(struct virtual_fabric *fabric, struct error *error);
void virtual_links_destroy(struct virtual_fabric *fabric);
/* Selects links on which the arrival time of a packet's credits is known when the packet starts to
 * leave, because nothing can change it: all packets have a route, and no event affects the link. */
void virtual_links_foretell(struct virtual_fabric *fabric);
/* Returns when the last transmission started anywhere in the fabric ends. */
weft_time virtual_links_free_at(const struct virtual_fabric *fabric);

/* Return a port's channel, and its link end. */
static inline struct virtual_tx *virtual_channel_at(
	const struct virtual_fabric *fabric, struct topology_port at)
{
	return at.kind == DEVICE_SWITCH ? virtual_switch_channel(fabric, at.device, at.port)
					: virtual_host_channel(fabric, at.device);
}

static inline struct link_end *virtual_end_at(
	const struct virtual_fabric *fabric, struct topology_port at)
{
	return at.kind == DEVICE_SWITCH ? &fabric->sw[at.device]->port[at.port].link
					: &fabric->host[at.device].nic.link;
}

/* Wire bytes of traffic. */

/* Returns 0, or -ENOMEM with error set. */
int virtual_wire_cost_open(struct virtual_fabric *fabric, struct error *error);
void virtual_wire_cost_close(struct virtual_fabric *fabric);
/* Returns the mean number of route bytes in this source's frames, over the first routes to its
 * destinations, in the unit of traffic_config.mean_route. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config);
/* Returns the wire bytes of a message. */
uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes);

/* Returns the number of switches between two hosts, along the tables' primary routes. */
unsigned virtual_links_between(const struct virtual_fabric *fabric, uint32_t from, uint32_t to);
