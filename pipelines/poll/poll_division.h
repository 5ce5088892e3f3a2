/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A switch on several cores (docs/how-to/divide-a-switch.md): a poll_switch for each shard of it
 * (switch_shard.h), each with the ports that it owns. poll_switch_owner() finds the owner of a
 * port; a port is set up there.
 *
 * One thread per shard calls poll_switch_run(); for everything else, one thread while none of them
 * runs. */

#include "poll_switch.h"

struct poll_division {
	struct switch_division *division;
	struct poll_switch *shard[SWITCH_SHARDS_MAX];
	struct poll_division_control *orders;
};

/* NULL with errno EINVAL (a number out of range, no VOQs) or ENOMEM. 'owner' of each port: the
 * number of a shard. */
struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards);

/* Makes a shard, in memory near the core of the calling thread. The threads of the shards may call
 * it at the same time. 'pool': as in poll_switch_create(). 0 or -ENOMEM. */
int poll_division_place(
	struct poll_division *division, unsigned shard, struct rte_mempool *pool, weft_time now);
/* All shards are there. */
void poll_division_connect(struct poll_division *division);

/* poll_switch_set_control() of a divided switch: its first shard has the channel, the others do
 * their part of the orders. */
void poll_division_set_control(
	struct poll_division *division, struct device_control *control, struct rte_mempool *pool);

/* Also frees what is stored. NULL is allowed. */
void poll_division_destroy(struct poll_division *division);

static inline struct poll_switch *poll_division_owner(
	const struct poll_division *division, unsigned port)
{
	return division->shard[division->division->owner[port]];
}

/* Which shard polls which port: assigned in rotation, preferably among the shards on the port's
 * socket. 'port_socket', 'part_socket': negative if unknown. */
void poll_division_deal(uint8_t *owner, const int *port_socket, unsigned ports,
	const int *part_socket, unsigned shards);
