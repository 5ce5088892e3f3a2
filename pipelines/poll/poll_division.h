/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A switch on several cores (docs/how-to/divide-a-switch.md): one poll_switch per shard
 * (switch_shard.h), with the ports that the shard owns. A port is set up at its owner, see
 * poll_switch_owner().
 *
 * One thread per shard calls poll_switch_run(). A single thread calls all other functions, while no
 * shard runs. */

#include "poll_switch.h"

struct poll_division {
	struct switch_division *division;
	struct poll_switch *shard[SWITCH_SHARDS_MAX];
	struct poll_division_control *orders;
};

/* Returns NULL with errno EINVAL (a number out of range, no VOQs) or ENOMEM. 'owner' contains the
 * shard number of each port. */
struct poll_division *poll_division_create(
	const struct switch_config *config, const uint8_t *owner, unsigned shards);

/* Creates a shard in memory near the core of the calling thread. The shards' threads may call it
 * concurrently. 'pool' is as in poll_switch_create(). Returns 0 or -ENOMEM. */
int poll_division_place(
	struct poll_division *division, unsigned shard, struct rte_mempool *pool, weft_time now);
/* Call when all shards have been created. */
void poll_division_connect(struct poll_division *division);

/* Like poll_switch_set_control(), for a divided switch. The first shard uses the channel; the
 * others execute their part of each command. */
void poll_division_set_control(
	struct poll_division *division, struct device_control *control, struct rte_mempool *pool);

/* Also frees stored packets. Accepts NULL. */
void poll_division_destroy(struct poll_division *division);

static inline struct poll_switch *poll_division_owner(
	const struct poll_division *division, unsigned port)
{
	return division->shard[division->division->owner[port]];
}

/* Assigns ports to shards in rotation, preferably to shards on the port's socket. Sets 'owner'.
 * 'port_socket' and 'part_socket' are negative if unknown. */
void poll_division_deal(uint8_t *owner, const int *port_socket, unsigned ports,
	const int *part_socket, unsigned shards);

/* The control thread and a switch with several loops. The first shard uses the channel
 * (device_control.h) and passes on commands for all shards. A purge or new tables are complete when
 * all shards have executed the command; the previous tables are returned then. Frames for the agent
 * reach the first shard through the rings, as do the agent's frames for ports of other shards.
 *
 * To the control thread, an iteration of such a switch is a round, in which each shard completes
 * two iterations, at least one of which started during the round. Each shard publishes the
 * iteration since which it has been idle. If all were idle throughout a round, there was an instant
 * at which all of them were idle. */

/* Written by one shard and read by the first. */
struct poll_part_report {
	uint64_t done;       /* number of the last command that this shard executed */
	uint64_t iterations; /* completed iterations */
	uint64_t
		idle_from; /* iteration since which the shard has been idle; UINT64_MAX: not idle */
	uint64_t linked;   /* the shard's ports whose link is up */
} __attribute__((aligned(64)));

struct poll_division_control {
	/* Written by the first shard before 'given'; the others read these fields afterwards. */
	uint64_t given __attribute__((aligned(64))); /* number of commands to all shards */
	uint8_t kind;                                /* enum device_order_kind */
	const struct switch_tables *tables;
	bool paused;
	struct poll_part_report report[SWITCH_SHARDS_MAX];
	/* Used only by the first shard. */
	uint64_t from[SWITCH_SHARDS_MAX]; /* iterations when the round started */
	uint64_t rounds;                  /* completed rounds */
	/* Round after which the current command is complete; 0: shards are still executing it. */
	uint64_t awaited;
	bool asked; /* the current command was passed to the shards */
};

struct poll_division_control *poll_division_control_create(void);

/* poll_switch_control_poll() for a shard. */
void poll_division_control(struct poll_switch *ps, weft_time now);
