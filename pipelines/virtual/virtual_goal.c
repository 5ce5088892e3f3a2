/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric that replay a schedule. Frames of a pair are delivered in order
 * (virtual_host_arrivals.c), so a message is complete when its tail arrives. */

#include "virtual_dispatch.h"

#include <errno.h>
#include <stdlib.h>

#include "virtual_links.h"
#include "virtual_partitions.h"

#define FLOW_FRAMES 2 /* maximum frames of a flow waiting in an interface, per VC */

/* Checks whether the host's ranks have completed all operations. */
static void look_at(struct virtual_fabric *fabric, uint32_t host, weft_time now)
{
	if (fabric->goal_host_done[host] || !goal_replay_host_done(fabric->replay, host))
		return;
	fabric->goal_host_done[host] = true;
	fabric->goal_state.hosts_done++;
	fabric->goal_state.changed = now;
}

void virtual_goal_add(struct virtual_goal_state *all, const struct virtual_goal_state *of)
{
	all->sent += of->sent;
	all->delivered += of->delivered;
	all->hosts_done += of->hosts_done;
	all->changed = of->changed > all->changed ? of->changed : all->changed;
}

bool virtual_goal_is_over(
	const struct virtual_fabric *fabric, const struct virtual_goal_state *state)
{
	return fabric->goal != NULL && state->hosts_done == fabric->goal->busy_hosts &&
	       state->delivered == state->sent;
}

/* Ends the run when everything has ended. A single partition detects this immediately, several
 * between rounds (virtual_rounds.c). */
static void look_for_end(struct virtual_fabric *fabric)
{
	weft_time end;

	if (fabric->partitions != NULL || !virtual_goal_is_over(fabric, &fabric->goal_state))
		return;
	fabric->goal_ended = fabric->goal_state.changed;
	end = fabric->goal_ended + fabric->goal_rest_ps;
	fabric->limit = end < fabric->limit ? end : fabric->limit;
}

/* Tells the destination's process, if it is a different one, that a message was accepted. */
static void tell_process_of(struct virtual_fabric *fabric, uint32_t host, uint32_t op)
{
	struct partition_crossing_control *crossing = NULL;

	if (!virtual_is_ours(fabric, fabric->switches + host))
		crossing = partition_send_control(fabric, VIRTUAL_CROSSING_ACCEPT, NULL,
			virtual_host_order(fabric, host, VIRTUAL_WAKE), WEFT_TIME_NEVER);
	if (crossing != NULL)
		crossing->op = op;
}

/* Flows alternate in the replay, so an interface holds only few frames of each. */
static bool can_take(const struct virtual_fabric *fabric, const struct datagram *nic,
	const struct datagram_message *message)
{
	return fabric->goal->flows.count > 0 ? datagram_queued(nic, message) < FLOW_FRAMES
					     : datagram_has_room(nic, message);
}

weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;
	weft_time from = fabric->goal->start_ps, next;
	struct goal_message due;

	if (fabric->goal->rank_of[number] == RUN_GOAL_NO_RANK)
		return WEFT_TIME_NEVER;
	if (now < from)
		return from;
	while (goal_replay_poll(fabric->replay, number, now - from, &due)) {
		const struct datagram_message message = {.generated_ps = from + due.due_ps,
			.bytes = run_goal_bytes(due.bytes),
			.destination = (uint16_t)due.to,
			.entry = fabric->goal->entry_of[number]};

		if (!can_take(fabric, nic, &message))
			return WEFT_TIME_NEVER; /* until a frame has left */
		datagram_send(nic, &message);
		goal_replay_accept(fabric->replay, number, now - from);
		if (due.first)
			tell_process_of(fabric, message.destination, due.op);
		fabric->entry[message.entry].goal_messages++;
		fabric->goal_state.sent++;
		fabric->window.entry[message.entry].flow[number].generated++;
		fabric->entry[message.entry].goal_wire_bytes += virtual_wire_cost_wire_bytes(
			fabric, number, message.destination, message.bytes);
	}
	look_at(fabric, number, now);
	look_for_end(fabric);
	next = goal_replay_next(fabric->replay, number);
	return next == WEFT_TIME_NEVER ? next : from + next;
}

void virtual_goal_note(struct virtual_fabric *fabric, uint32_t op)
{
	if (fabric->replay == NULL || !goal_replay_accept_elsewhere(fabric->replay, op)) {
		fabric->partitions->garbled = true;
		fabric->failed = true;
	}
}

void virtual_goal_take(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now)
{
	const struct run_goal *goal = fabric->goal;

	if (goal->rank_of[number] == RUN_GOAL_NO_RANK || (packet->flags & FRAME_F_TAIL) == 0)
		return;
	if (goal_replay_deliver(fabric->replay, number, packet->source, now - goal->start_ps)) {
		fabric->goal_state.delivered++;
		fabric->goal_state.changed = now;
	}
	look_at(fabric, number, now);
	look_for_end(fabric);
	virtual_host_try(fabric, number, now);
}

static weft_time longest_delay(const struct topology *topology)
{
	weft_time longest = 1; /* events due at the end are still executed */

	for (uint32_t i = 0; i < topology->links; i++)
		if (topology->link_at[i].delay_ps > longest)
			longest = topology->link_at[i].delay_ps;
	return longest;
}

int virtual_goal_open(struct virtual_fabric *fabric, struct error *error)
{
	int result = run_goal_open(fabric->run, fabric->topology, &fabric->goal, error);

	if (result < 0 || fabric->goal == NULL)
		return result;
	result = run_goal_check_beside(fabric->goal, fabric->run, fabric->traffic, error);
	if (result < 0)
		return result;
	fabric->replay = run_goal_replay(fabric->goal, true, error);
	fabric->goal_host_done = calloc(fabric->goal->hosts + 1u, sizeof(bool));
	if (fabric->replay == NULL || fabric->goal_host_done == NULL)
		return error_set(error, ENOMEM, "not enough memory for a schedule");
	fabric->goal_rest_ps = longest_delay(fabric->topology);
	return 0;
}

void virtual_goal_close(struct virtual_fabric *fabric)
{
	goal_replay_destroy(fabric->replay);
	free(fabric->goal_host_done);
	run_goal_close(fabric->goal);
}
