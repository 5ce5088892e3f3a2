/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The control thread and a switch of several loops: the first shard has the channel
 * (device_control.h) and passes on what concerns all. A purge or new tables count as done when all
 * shards have done it; the previous tables are returned then. Frames for the agent reach the first
 * shard through the rings, and its frames for ports of others leave it there.
 *
 * To the control thread an iteration of such a switch is a round: each shard has made two
 * iterations since it started, at least one of them whole. Shards publish since which iteration
 * they have been idle, so there was an instant at which all were idle if they were idle throughout
 * a round. */

#include "poll_switch.h"

/* Written by one shard, read by the first one. */
struct poll_part_report {
	uint64_t done;       /* the last command that it has done */
	uint64_t iterations; /* that it has made */
	uint64_t idle_from;  /* the iteration since which it is idle; UINT64_MAX: it is not */
	uint64_t linked;     /* its ports */
} __attribute__((aligned(64)));

struct poll_division_control {
	/* Written by the first shard before 'given'; then the others read it. */
	uint64_t given __attribute__((aligned(64))); /* orders to all shards */
	uint8_t kind;                                /* enum device_order_kind */
	const struct switch_tables *tables;
	bool paused;
	struct poll_part_report report[SWITCH_SHARDS_MAX];
	/* The first shard's own. */
	uint64_t from[SWITCH_SHARDS_MAX]; /* iterations when the round started */
	uint64_t rounds;                  /* that have ended */
	uint64_t awaited; /* the present command is done after this many; 0: shards still do it */
	bool asked;       /* they have been told of it */
};

struct poll_division_control *poll_division_control_create(void);

/* poll_switch_control_poll() of a shard. */
void poll_division_control(struct poll_switch *ps, weft_time now);

/* A frame of the agent from the first shard leaves through a port of this one, or is lost. */
void poll_division_send(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now);
