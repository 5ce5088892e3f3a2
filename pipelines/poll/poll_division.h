/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A switch on several cores (docs/how-to/divide-a-switch.md): a poll_switch for each shard of it
 * (switch_shard.h), each with the ports that it owns. poll_switch_owner() finds the owner of a
 * port; a port is set up there.
 *
 * One thread per shard calls poll_switch_run(); a single thread calls everything else, while no
 * shard runs. */

#include "poll_switch.h"

struct poll_division {
	struct switch_division *division;
	struct poll_switch *shard[SWITCH_SHARDS_MAX];
	struct poll_division_control *orders;
};

/* Returns NULL with errno EINVAL (a number out of range, no VOQs) or ENOMEM. 'owner': the shard
 * number for each port. */
struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards);

/* Makes a shard, in memory near the core of the calling thread. The threads of the shards may call
 * it at the same time. 'pool': as in poll_switch_create(). Returns 0 or -ENOMEM. */
int poll_division_place(
	struct poll_division *division, unsigned shard, struct rte_mempool *pool, weft_time now);
/* All shards are there. */
void poll_division_connect(struct poll_division *division);

/* poll_switch_set_control() of a divided switch: its first shard has the channel; the others carry
 * out their part of the commands. */
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

/* The control thread and a switch with several loops: the first shard has the channel
 * (device_control.h) and passes on commands that concern all shards. A purge or new tables count as
 * done when all shards have done it; the previous tables are returned then. Frames for the agent
 * reach the first shard through the rings, and the agent's frames for other shards' ports leave it
 * through them.
 *
 * To the control thread an iteration of such a switch is a round: each shard has made two
 * iterations since it started, at least one of them whole. Shards publish since which iteration
 * they have been idle, so there was an instant at which all were idle if they were idle throughout
 * a round. */

/* Written by one shard, read by the first one. */
struct poll_part_report {
	uint64_t done;       /* the last command that this shard has done */
	uint64_t iterations; /* that it has made */
	uint64_t idle_from;  /* iteration since which it has been idle; UINT64_MAX: not idle */
	uint64_t linked;     /* its ports */
} __attribute__((aligned(64)));

struct poll_division_control {
	/* Written by the first shard before 'given'; the others read it afterwards. */
	uint64_t given __attribute__((aligned(64))); /* orders to all shards */
	uint8_t kind;                                /* enum device_order_kind */
	const struct switch_tables *tables;
	bool paused;
	struct poll_part_report report[SWITCH_SHARDS_MAX];
	/* The first shard's own. */
	uint64_t from[SWITCH_SHARDS_MAX]; /* iterations when the round started */
	uint64_t rounds;                  /* that have ended */
	/* The current command ends after this round; 0: shards are still carrying it out. */
	uint64_t awaited;
	bool asked; /* they have been told of it */
};

struct poll_division_control *poll_division_control_create(void);

/* poll_switch_control_poll() of a shard. */
void poll_division_control(struct poll_switch *ps, weft_time now);
