/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A schedule that the hosts of a virtual fabric replay. Parts learn of its end after a round
 * (virtual_rounds.h), when they have gone on for less than the longest delay of a link. So every
 * run with a schedule goes on for so long after its last message, and measuring ends then.
 */

#include "virtual_private.h"

/* Reads the run's schedule, if it has one; virtual_goal_close() in any case. */
int virtual_goal_open(struct virtual_fabric *fabric, struct fault *fault);
void virtual_goal_close(struct virtual_fabric *fabric);
/* When the run ends because of its schedule; WEFT_TIME_NEVER: not known yet. */
static inline weft_time virtual_goal_end(const struct virtual_fabric *fabric)
{
	return fabric->goal_ended == WEFT_TIME_NEVER ? WEFT_TIME_NEVER
						     : fabric->goal_ended + fabric->goal_rest_ps;
}

/* Adds the state of other parts. */
void virtual_goal_add(struct virtual_goal_state *all, const struct virtual_goal_state *of);
/* By the state of all parts together. */
bool virtual_goal_is_over(
	const struct virtual_fabric *fabric, const struct virtual_goal_state *state);
/* The others only in a fabric with a schedule. */
/* Sends what is due. Returns when to call it again if nothing arrives. */
weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* A message has been accepted in another process. */
void virtual_goal_note(struct virtual_fabric *fabric, uint32_t op);
/* A frame has arrived, with which a message may be whole. */
void virtual_goal_take(struct virtual_fabric *fabric, uint32_t host,
	const struct weft_packet *packet, weft_time now);
