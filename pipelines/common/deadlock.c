/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * A buffer (switch, input, VC) is named by the channel that fills it. A head without credits waits
 * for the buffer behind its output. That one will have room as soon as any of its own heads goes,
 * so a buffer is dead only when each of its heads waits for a dead one: the largest such set is
 * what is left when all have been taken out that can move. Whoever follows heads inside that set
 * comes round a circle.
 */

#include "deadlock.h"

#include <errno.h>
#include <stdlib.h>

struct search {
	const struct deadlock_view *view;
	weft_time age_ps; /* heads count that have waited for so long */
	bool *moves;      /* by buffer: something in it will go */
	bool *visited;    /* by buffer: the walk came by */
};

static uint32_t buffers(const struct deadlock_view *view)
{
	return view->topology->switches * SWITCH_PORTS_MAX * FRAME_VCS_MAX;
}

static uint32_t buffer_of(uint32_t at, unsigned input, unsigned vc)
{
	return (at * SWITCH_PORTS_MAX + input) * FRAME_VCS_MAX + vc;
}

static bool has_waited(const struct deadlock_view *view, const struct voq *queue, weft_time age_ps)
{
	return queue->stalled_at != 0 && view->now - queue->stalled_at >= age_ps;
}

static bool waits(const struct search *search, const struct weft_switch *sw,
	const struct voq *queue, unsigned output)
{
	const struct weft_packet *head = queue->head;

	return !credit_suffices(&sw->port[output].link.tx[head->vc_next], head->blocks) &&
	       (search->age_ps == 0 || has_waited(search->view, queue, search->age_ps));
}

/* The first head of the buffer, from 'output' on: its output; SWITCH_PORTS_MAX: no more. */
static unsigned next_head(const struct search *search, uint32_t buffer, unsigned output)
{
	uint32_t vc = buffer % FRAME_VCS_MAX, input = buffer / FRAME_VCS_MAX % SWITCH_PORTS_MAX;
	const struct weft_switch *sw = search->view->sw[buffer / FRAME_VCS_MAX / SWITCH_PORTS_MAX];

	if (sw == NULL || input >= sw->ports || vc >= sw->vcs)
		return SWITCH_PORTS_MAX;
	for (; output < sw->ports; output++) {
		const struct weft_packet *head = switch_queues(sw, output, input)[vc].head;

		if (head != NULL && head->out_port == output)
			return output;
	}
	return SWITCH_PORTS_MAX;
}

/* The buffer that the head for 'output' waits for; UINT32_MAX if it does not wait, or for a host,
 * which takes what comes. */
static uint32_t awaited(const struct search *search, uint32_t buffer, unsigned output)
{
	uint32_t vc = buffer % FRAME_VCS_MAX, input = buffer / FRAME_VCS_MAX % SWITCH_PORTS_MAX;
	uint32_t at = buffer / FRAME_VCS_MAX / SWITCH_PORTS_MAX;
	const struct weft_switch *sw = search->view->sw[at];
	const struct voq *queue = &switch_queues(sw, output, input)[vc];
	const struct topology_port from = {DEVICE_SWITCH, at, (uint8_t)output};
	struct topology_port to;

	if (!waits(search, sw, queue, output) ||
		!topology_peer(search->view->topology, from, &to) || to.kind != DEVICE_SWITCH)
		return UINT32_MAX;
	return buffer_of(to.device, to.port, queue->head->vc_next);
}

static bool can_move(const struct search *search, uint32_t buffer)
{
	unsigned output = next_head(search, buffer, 0);

	if (output == SWITCH_PORTS_MAX)
		return true;
	for (; output < SWITCH_PORTS_MAX; output = next_head(search, buffer, output + 1)) {
		uint32_t to = awaited(search, buffer, output);

		if (to == UINT32_MAX || search->moves[to])
			return true;
	}
	return false;
}

/* Takes out what can move, and what can move then, until nothing changes; the first buffer that is
 * left, UINT32_MAX: none. */
static uint32_t find_dead(struct search *search)
{
	uint32_t first;
	bool changed;

	do {
		changed = false;
		first = UINT32_MAX;
		for (uint32_t at = buffers(search->view); at-- > 0;) {
			if (search->moves[at])
				continue;
			search->moves[at] = can_move(search, at);
			changed = changed || search->moves[at];
			first = search->moves[at] ? first : at;
		}
	} while (changed && first != UINT32_MAX);
	return first;
}

static uint32_t follow(const struct search *search, uint32_t dead)
{
	return awaited(search, dead, next_head(search, dead, 0));
}

/* A buffer on the circle that a dead one leads to. */
static uint32_t walk(struct search *search, uint32_t dead)
{
	while (!search->visited[dead]) {
		search->visited[dead] = true;
		dead = follow(search, dead);
	}
	return dead;
}

/* The port that fills the buffer. */
static struct topology_port sender_of(const struct topology *topology, uint32_t buffer)
{
	const struct topology_port at = {DEVICE_SWITCH, buffer / FRAME_VCS_MAX / SWITCH_PORTS_MAX,
		(uint8_t)(buffer / FRAME_VCS_MAX % SWITCH_PORTS_MAX)};
	struct topology_port sender = at;

	topology_peer(topology, at, &sender);
	return sender;
}

static unsigned list_circle(
	const struct search *search, uint32_t in, struct topology_port *cycle, unsigned room)
{
	unsigned count = 0;
	uint32_t at = in;

	do {
		if (count < room)
			cycle[count] = sender_of(search->view->topology, at);
		count++;
		at = follow(search, at);
	} while (at != in);
	return count;
}

unsigned deadlock_find(const struct deadlock_view *view, weft_time age_ps,
	struct topology_port *cycle, unsigned room)
{
	struct search search = {.view = view,
		.age_ps = age_ps,
		.moves = calloc(buffers(view) + 1u, sizeof(bool)),
		.visited = calloc(buffers(view) + 1u, sizeof(bool))};
	unsigned count = 0;

	if (search.moves != NULL && search.visited != NULL) {
		uint32_t dead = find_dead(&search);

		if (dead != UINT32_MAX)
			count = list_circle(&search, walk(&search, dead), cycle, room);
	}
	free(search.moves);
	free(search.visited);
	return count;
}

static bool has_old_head(const struct deadlock_view *view, const struct weft_switch *sw,
	unsigned output, weft_time age_ps)
{
	for (uint64_t inputs = sw->port[output].output.stalled; inputs != 0; inputs &= inputs - 1) {
		unsigned input = (unsigned)__builtin_ctzll(inputs);
		const struct voq *queue = switch_queues(sw, output, input);

		for (uint32_t vcs = switch_stalled_vcs(sw, output, input); vcs != 0; vcs &= vcs - 1)
			if (has_waited(view, &queue[__builtin_ctz(vcs)], age_ps))
				return true;
	}
	return false;
}

bool deadlock_is_possible(const struct deadlock_view *view, weft_time age_ps)
{
	for (uint32_t at = 0; at < view->topology->switches; at++) {
		const struct weft_switch *sw = view->sw[at];

		for (unsigned output = 0; sw != NULL && output < sw->ports; output++)
			if (has_old_head(view, sw, output, age_ps))
				return true;
	}
	return false;
}

int deadlock_result(const struct deadlock_circle *circle, const struct topology *topology,
	struct run_result *result)
{
	result->deadlock = result->deadlock || circle->channels > 0;
	return run_result_add_cycle(result, topology, circle->port,
		circle->channels < DEADLOCK_CIRCLE_MAX ? circle->channels : DEADLOCK_CIRCLE_MAX);
}
