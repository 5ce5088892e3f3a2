/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a virtual fabric: sending ends, and the credits of all ends as after start-up. */

#include "virtual_private.h"

int virtual_links_create(struct virtual_fabric *fabric, struct fault *fault);
void virtual_links_destroy(struct virtual_fabric *fabric);
/* The end of the last transmission that has begun anywhere. */
weft_time virtual_links_free_at(const struct virtual_fabric *fabric);

/* The channel that a port sends by, and the link's end there. */
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
