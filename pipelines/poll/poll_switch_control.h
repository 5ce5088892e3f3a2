/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A switch's poll loop and the control thread (device_control.h): the rare half of poll_switch.c.
 */

#include "poll_switch.h"

/* Passes frames for the agent to the control thread; if there is no room, they are lost and
 * counted. */
void poll_switch_control_up(struct poll_switch *ps);

/* At the end of an iteration: executes commands, then reports state. No frame of this iteration is
 * between ports and queues any more. */
void poll_switch_control_poll(struct poll_switch *ps, weft_time now);

/* ---- Shared by switches on one loop and on several. */

/* DEVICE_SEND through a port of this loop. Returns false if it must wait. */
bool poll_switch_control_send(
	struct poll_switch *ps, const struct device_order *order, weft_time now);
/* DEVICE_PURGE. */
void poll_switch_control_purge(struct poll_switch *ps, weft_time now);
/* DEVICE_COMMIT: returns 0, or -EINVAL if the previous tables stay. */
int poll_switch_control_use(struct poll_switch *ps, const struct switch_tables *tables);
/* True if no data is stored here, and none arrived or left since the last call. Mapper frames are
 * ignored, because they come and go all the time. */
bool poll_switch_control_is_idle(struct poll_switch *ps);

/* Frees what is stored between loops; the switch has no tables afterwards. */
void poll_switch_control_end(struct poll_switch *ps);

/* Sends one of the driver's own frames, ready at 'ready', after the frames that are already
 * waiting. tx_queue_has_room() returned true. */
void poll_switch_send_own(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time ready, weft_time now);
/* For a shard: takes the frames that other shards passed on; returns their number. */
unsigned poll_switch_accept(struct poll_switch *ps, weft_time now);
/* Frees the frames that the switch discarded; their space in the buffers has been free since 'now'.
 * 'stored': they have changed since they arrived. */
void poll_switch_free_discards(struct poll_switch *ps, bool stored, weft_time now);
