/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric that replay a schedule. The fabric delivers the messages of a pair in
 * order, because run_config_supported() wants one route for each. */

#include "virtual_devices.h"

weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;
	weft_time from = fabric->goal->start_ps, next;
	uint32_t rank = fabric->goal->rank_of[number];
	struct goal_message due;

	if (rank == RUN_GOAL_NO_RANK)
		return WEFT_TIME_NEVER;
	if (now < from)
		return from;
	while (goal_replay_poll(fabric->replay, rank, now - from, &due)) {
		const struct datagram_message message = {.generated_ps = from + due.due_ps,
			.bytes = run_goal_bytes(due.bytes),
			.destination = fabric->goal->host_of[due.to]};

		if (!datagram_has_room(nic, &message))
			return WEFT_TIME_NEVER; /* until something has left */
		datagram_send(nic, &message);
		goal_replay_accept(fabric->replay, rank, now - from);
		fabric->goal_messages++;
		fabric->goal_bytes += message.bytes;
	}
	next = goal_replay_next(fabric->replay, rank);
	return next == WEFT_TIME_NEVER ? next : from + next;
}

void virtual_goal_take(
	struct virtual_fabric *fabric, uint32_t number, uint16_t source, weft_time now)
{
	const struct run_goal *goal = fabric->goal;

	if (goal->rank_of[number] == RUN_GOAL_NO_RANK)
		return;
	goal_replay_deliver(
		fabric->replay, goal->rank_of[number], goal->rank_of[source], now - goal->start_ps);
	virtual_host_try(fabric, number, now);
}
