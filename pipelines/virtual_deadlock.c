/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Circles of waiting in the live buffers of a virtual fabric. A buffer (switch, input, VC) is named
 * by the channel that fills it. It waits for the one behind an output when the head of a queue has
 * no credits there; such a buffer is full, so it has a head that waits, too, or can go. Whoever
 * follows those that wait comes to a head that can go, or to a circle.
 */

#include <errno.h>
#include <stdlib.h>

#include "virtual_devices.h"

struct search {
	const struct virtual_fabric *fabric;
	weft_time age_ps;  /* heads count that have waited for so long */
	uint32_t *visited; /* by buffer: the walk that came by; 0: none */
};

static uint32_t buffers(const struct virtual_fabric *fabric)
{
	return fabric->switches * SWITCH_PORTS_MAX * FRAME_VCS_MAX;
}

static uint32_t buffer_of(uint32_t at, unsigned input, unsigned vc)
{
	return (at * SWITCH_PORTS_MAX + input) * FRAME_VCS_MAX + vc;
}

static bool waits(const struct search *search, const struct weft_switch *sw,
	const struct voq *queue, unsigned output)
{
	const struct weft_packet *head = queue->head;

	return !credit_suffices(&sw->port[output].link.tx[head->vc_next], head->blocks) &&
	       (search->age_ps == 0 ||
		       (queue->stalled_at != 0 &&
			       search->fabric->now - queue->stalled_at >= search->age_ps));
}

/* The buffer that this one waits for; UINT32_MAX if it does not, or only for a host. */
static uint32_t next_of(const struct search *search, uint32_t buffer)
{
	uint32_t vc = buffer % FRAME_VCS_MAX, input = buffer / FRAME_VCS_MAX % SWITCH_PORTS_MAX;
	uint32_t at = buffer / FRAME_VCS_MAX / SWITCH_PORTS_MAX, found = UINT32_MAX;
	const struct weft_switch *sw = search->fabric->sw[at];

	if (input >= sw->ports || vc >= sw->vcs)
		return UINT32_MAX;
	for (unsigned output = 0; output < sw->ports; output++) {
		const struct voq *queue = &switch_cross(sw, output, input)->queue[vc];
		const struct topology_port from = {DEVICE_SWITCH, at, (uint8_t)output};
		struct topology_port to;

		if (queue->head == NULL || queue->head->out_port != output)
			continue;
		if (!waits(search, sw, queue, output))
			return UINT32_MAX;
		if (topology_peer(search->fabric->topology, from, &to) && to.kind == DEVICE_SWITCH)
			found = buffer_of(to.device, to.port, queue->head->vc_next);
	}
	return found;
}

/* A buffer on a circle that is reached from 'start'; UINT32_MAX: none. */
static uint32_t walk(struct search *search, uint32_t start)
{
	uint32_t at = start, mark = start + 1;

	while (at != UINT32_MAX && search->visited[at] == 0) {
		search->visited[at] = mark;
		at = next_of(search, at);
	}
	return at != UINT32_MAX && search->visited[at] == mark ? at : UINT32_MAX;
}

/* The port that fills the buffer. */
static struct topology_port sender_of(const struct virtual_fabric *fabric, uint32_t buffer)
{
	const struct topology_port at = {DEVICE_SWITCH, buffer / FRAME_VCS_MAX / SWITCH_PORTS_MAX,
		(uint8_t)(buffer / FRAME_VCS_MAX % SWITCH_PORTS_MAX)};
	struct topology_port sender = at;

	topology_peer(fabric->topology, at, &sender);
	return sender;
}

unsigned virtual_deadlock_find(const struct virtual_fabric *fabric, weft_time age_ps,
	struct topology_port *cycle, unsigned room)
{
	struct search search = {.fabric = fabric,
		.age_ps = age_ps,
		.visited = calloc(buffers(fabric) + 1u, sizeof(uint32_t))};
	uint32_t in = UINT32_MAX, at;
	unsigned count = 0;

	if (search.visited == NULL)
		return 0;
	for (uint32_t start = 0; start < buffers(fabric) && in == UINT32_MAX; start++)
		in = walk(&search, start);
	for (at = in; at != UINT32_MAX && (at != in || count == 0); at = next_of(&search, at)) {
		if (count < room)
			cycle[count] = sender_of(fabric, at);
		count++;
	}
	free(search.visited);
	return count;
}

void virtual_deadlock_note(struct virtual_fabric *fabric, weft_time age_ps)
{
	fabric->cycle_channels =
		virtual_deadlock_find(fabric, age_ps, fabric->cycle, VIRTUAL_CYCLE_MAX);
}

int virtual_deadlock_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	result->deadlock = fabric->deadlock || fabric->cycle_channels > 0;
	for (unsigned i = 0; i < fabric->cycle_channels && i < VIRTUAL_CYCLE_MAX; i++) {
		struct run_cycle *channel = run_result_add_cycle(result);

		if (channel == NULL)
			return -ENOMEM;
		topology_port_name(
			fabric->topology, fabric->cycle[i], channel->from, sizeof(channel->from));
	}
	return 0;
}
