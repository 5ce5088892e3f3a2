/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A switch's poll loop and the control thread (device_control.h): the rare half of poll_switch.c.
 */

#include "poll_switch.h"

/* What has come for the agent goes up, or is lost and counted if there is no room. */
void poll_switch_control_up(struct poll_switch *ps);

/* The end of a turn: orders, then what there is to tell. Nothing of this turn is on its way between
 * ports and queues any more. */
void poll_switch_control_turn(struct poll_switch *ps, weft_time now);

/* Everything that waits between turns is freed; the switch routes nothing by table any more. */
void poll_switch_control_end(struct poll_switch *ps);

/* Sends a frame of ours by a port, behind what waits there. tx_queue_has_room() was true. */
void poll_switch_send_own(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now);
/* Frees a list of packets of the switch. */
void poll_switch_free_list(struct weft_packet *packet);
