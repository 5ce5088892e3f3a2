/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric that replay a schedule. The frames of a pair are delivered in order
 * (virtual_host.c), so a message has come with its tail. */

#include "virtual_goal.h"

#include <errno.h>

#include "virtual_host.h"
#include "virtual_wire_cost.h"

/* The run ends here: nothing happens after this moment. */
static void look_for_end(struct virtual_fabric *fabric, weft_time now)
{
	uint32_t *rank = &fabric->goal_ranks_done;

	while (*rank < fabric->goal->goal->ranks && goal_replay_rank_done(fabric->replay, *rank))
		++*rank;
	if (*rank < fabric->goal->goal->ranks || fabric->goal_delivered < fabric->goal_messages)
		return;
	fabric->goal_over = true;
	if (now + 1 < fabric->limit)
		fabric->limit = now + 1;
}

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
			.destination = fabric->goal->host_of[due.to],
			.entry = fabric->goal->entry};

		if (!datagram_has_room(nic, &message))
			return WEFT_TIME_NEVER; /* until something has left */
		datagram_send(nic, &message);
		goal_replay_accept(fabric->replay, rank, now - from);
		fabric->goal_messages++;
		fabric->window.entry[message.entry].flow[number].generated++;
		fabric->goal_wire_bytes += virtual_wire_cost_wire_bytes(
			fabric, number, message.destination, message.bytes);
	}
	look_for_end(fabric, now);
	next = goal_replay_next(fabric->replay, rank);
	return next == WEFT_TIME_NEVER ? next : from + next;
}

void virtual_goal_take(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now)
{
	const struct run_goal *goal = fabric->goal;

	if (goal->rank_of[number] == RUN_GOAL_NO_RANK || (packet->flags & FRAME_F_TAIL) == 0)
		return;
	if (goal_replay_deliver(fabric->replay, goal->rank_of[number],
		    goal->rank_of[packet->source], now - goal->start_ps))
		fabric->goal_delivered++;
	look_for_end(fabric, now);
	virtual_host_try(fabric, number, now);
}

int virtual_goal_open(struct virtual_fabric *fabric, struct fault *fault)
{
	int result = run_goal_open(fabric->run, fabric->topology, &fabric->goal, fault);

	if (result < 0 || fabric->goal == NULL)
		return result;
	result = run_goal_check_beside(fabric->goal, fabric->run, fabric->traffic, fault);
	if (result < 0)
		return result;
	fabric->replay = goal_replay_create(fabric->goal->goal, 0);
	if (fabric->replay == NULL)
		return fault_set(fault, ENOMEM, "no memory for a schedule");
	return 0;
}

void virtual_goal_close(struct virtual_fabric *fabric)
{
	goal_replay_destroy(fabric->replay);
	run_goal_close(fabric->goal);
}
