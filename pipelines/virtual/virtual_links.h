/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a virtual fabric: sending ends, and the credits of all ends as after start-up. */

#include "virtual_private.h"

int virtual_links_create(struct virtual_fabric *fabric, struct error *error);
void virtual_links_destroy(struct virtual_fabric *fabric);
/* Before a run: chooses the links where the arrival of a packet's credits is known as soon as the
 * packet starts to leave, because nothing can change it: all packets that arrive have a route, and
 * no event of the run touches the link. */
void virtual_links_foretell(struct virtual_fabric *fabric);
/* The end of the last transmission that started anywhere in the fabric. */
weft_time virtual_links_free_at(const struct virtual_fabric *fabric);

/* The channel of a port, and the link's end there. */
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

/* The number of bytes that traffic occupies on the wire. */

/* Returns 0 or -ENOMEM with error. */
int virtual_wire_cost_open(struct virtual_fabric *fabric, struct error *error);
void virtual_wire_cost_close(struct virtual_fabric *fabric);
/* Mean number of route bytes in a frame of this source, over the first routes to its destinations,
 * as traffic_config.mean_route. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config);
/* Bytes on the wire for a message. */
uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes);

/* Number of switches between two hosts, along the tables' primary routes. */
unsigned virtual_links_between(const struct virtual_fabric *fabric, uint32_t from, uint32_t to);
