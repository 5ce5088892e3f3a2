/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a switch: control frames between neighbours, and what falls due at a port. For
 * poll_switch.c. */

#include "poll_switch.h"

/* A good control frame of the neighbour, for this link. The mbuf stays the caller's. */
void poll_switch_receive_link(
	struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf, weft_time now);

/* Once a loop and port: the state of the link, and the hello and credit frames that are due. */
void poll_switch_poll_link(struct poll_switch *ps, unsigned at, weft_time now);

/* At the end of each iteration of a part: switch_part_tell(), without packets whose tail is still
 * leaving. */
void poll_switch_tell(struct poll_switch *ps, weft_time now);

/* Once a loop, of a switch with a detector: runs the timers of detector and table, and sends the
 * notifications of this loop. */
void poll_switch_poll_congestion(struct poll_switch *ps, weft_time now);
