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

/* --- heads that wait --- */

static uint32_t buffer_of(uint32_t at, unsigned input, unsigned vc)
{
	return (at * SWITCH_PORTS_MAX + input) * FRAME_VCS_MAX + vc;
}

static bool has_waited(const struct deadlock_view *view, const struct voq *queue, weft_time age_ps)
{
	return queue->stalled_at != 0 && view->now - queue->stalled_at >= age_ps;
}

static bool waits(const struct deadlock_view *view, weft_time age_ps, const struct weft_switch *sw,
	const struct voq *queue, unsigned output)
{
	const struct weft_packet *head = queue->head;

	return !credit_suffices(&sw->port[output].link.tx[head->vc_next], head->blocks) &&
	       (age_ps == 0 || has_waited(view, queue, age_ps));
}

/* The buffer that the head of a queue for 'output' waits for; UINT32_MAX if it does not wait, or
 * for a host, which takes what comes. */
static uint32_t awaited(const struct deadlock_view *view, weft_time age_ps, uint32_t at,
	const struct voq *queue, unsigned output)
{
	const struct topology_port from = {DEVICE_SWITCH, at, (uint8_t)output};
	struct topology_port to;

	if (!waits(view, age_ps, view->sw[at], queue, output) ||
		!topology_peer(view->topology, from, &to) || to.kind != DEVICE_SWITCH)
		return UINT32_MAX;
	return buffer_of(to.device, to.port, queue->head->vc_next);
}

/* Adds the heads of a buffer, unless one of them can move, and so the buffer. */
static int add_buffer(const struct deadlock_view *view, weft_time age_ps, uint32_t at,
	unsigned input, unsigned vc, struct deadlock_heads *heads)
{
	const struct weft_switch *sw = view->sw[at];
	size_t before = heads->count;

	for (unsigned output = 0; output < sw->ports; output++) {
		const struct voq *queue = &switch_queues(sw, output, input)[vc];
		uint32_t to;

		if (queue->head == NULL || queue->head->out_port != output)
			continue;
		to = awaited(view, age_ps, at, queue, output);
		if (to == UINT32_MAX) {
			heads->count = before;
			return 0;
		}
		if (deadlock_heads_reserve(heads, heads->count + 1) < 0)
			return -ENOMEM;
		heads->head[heads->count++] =
			(struct deadlock_head){buffer_of(at, input, vc), to, output};
	}
	return 0;
}

int deadlock_heads_reserve(struct deadlock_heads *heads, size_t count)
{
	size_t room = heads->room > 0 ? heads->room : 64;
	struct deadlock_head *larger;

	while (room < count)
		room *= 2;
	if (room == heads->room)
		return 0;
	larger = realloc(heads->head, room * sizeof(*larger));
	if (larger == NULL)
		return -ENOMEM;
	heads->head = larger;
	heads->room = room;
	return 0;
}

int deadlock_collect(
	const struct deadlock_view *view, weft_time age_ps, struct deadlock_heads *heads)
{
	int result = 0;

	for (uint32_t at = 0; at < view->topology->switches; at++) {
		const struct weft_switch *sw = view->sw[at];
		unsigned buffers = sw != NULL ? (unsigned)sw->ports * sw->vcs : 0;

		for (unsigned i = 0; i < buffers && result == 0; i++)
			result = add_buffer(view, age_ps, at, i / sw->vcs, i % sw->vcs, heads);
	}
	return result;
}

void deadlock_heads_free(struct deadlock_heads *heads)
{
	free(heads->head);
	*heads = (struct deadlock_heads){0};
}

/* --- the search --- */

/* Sorted heads: those of a buffer lie together. */
struct search {
	const struct deadlock_head *head;
	size_t count;
	size_t *to;    /* by head: the first head of the buffer that it waits for; 'count': none */
	bool *moves;   /* by the first head of a buffer: something in it will go */
	bool *visited; /* likewise: the walk came by */
};

static int compare(const void *a, const void *b)
{
	const struct deadlock_head *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	return x->output < y->output ? -1 : x->output > y->output;
}

/* The first head of a buffer; 'count': it has none, and can move. */
static size_t first_of(const struct search *search, uint32_t buffer)
{
	size_t low = 0, high = search->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (search->head[middle].buffer < buffer)
			low = middle + 1;
		else
			high = middle;
	}
	return low < search->count && search->head[low].buffer == buffer ? low : search->count;
}

static bool is_first(const struct search *search, size_t at)
{
	return at == 0 || search->head[at - 1].buffer != search->head[at].buffer;
}

static bool can_move(const struct search *search, size_t first)
{
	size_t at = first;

	do {
		if (search->to[at] == search->count || search->moves[search->to[at]])
			return true;
	} while (++at < search->count && !is_first(search, at));
	return false;
}

/* Takes out what can move, and what can move then, until nothing changes; the first head that is
 * left, 'count': none. */
static size_t find_dead(struct search *search)
{
	size_t first;
	bool changed;

	do {
		changed = false;
		first = search->count;
		for (size_t at = search->count; at-- > 0;) {
			if (!is_first(search, at) || search->moves[at])
				continue;
			search->moves[at] = can_move(search, at);
			changed = changed || search->moves[at];
			first = search->moves[at] ? first : at;
		}
	} while (changed && first != search->count);
	return first;
}

/* The first head of a buffer on the circle that a dead one leads to. */
static size_t walk(struct search *search, size_t dead)
{
	while (!search->visited[dead]) {
		search->visited[dead] = true;
		dead = search->to[dead];
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

static unsigned list_circle(const struct search *search, size_t in, const struct topology *topology,
	struct topology_port *cycle, unsigned room)
{
	unsigned count = 0;
	size_t at = in;

	do {
		if (count < room)
			cycle[count] = sender_of(topology, search->head[at].buffer);
		count++;
		at = search->to[at];
	} while (at != in);
	return count;
}

int deadlock_search(struct deadlock_heads *heads, const struct topology *topology,
	struct topology_port *cycle, unsigned room)
{
	struct search search = {.head = heads->head,
		.count = heads->count,
		.to = calloc(heads->count + 1, sizeof(*search.to)),
		.moves = calloc(heads->count + 1, sizeof(bool)),
		.visited = calloc(heads->count + 1, sizeof(bool))};
	bool memory = search.to != NULL && search.moves != NULL && search.visited != NULL;
	unsigned found = 0;

	if (heads->count > 0)
		qsort(heads->head, heads->count, sizeof(*heads->head), compare);
	if (memory) {
		size_t dead;

		for (size_t at = 0; at < search.count; at++)
			search.to[at] = first_of(&search, search.head[at].awaits);
		dead = find_dead(&search);
		if (dead != search.count)
			found = list_circle(&search, walk(&search, dead), topology, cycle, room);
	}
	free(search.to);
	free(search.moves);
	free(search.visited);
	return memory ? (int)found : -ENOMEM;
}

unsigned deadlock_find(const struct deadlock_view *view, weft_time age_ps,
	struct topology_port *cycle, unsigned room)
{
	struct deadlock_heads heads = {0};
	int count = 0;

	if (deadlock_collect(view, age_ps, &heads) == 0)
		count = deadlock_search(&heads, view->topology, cycle, room);
	deadlock_heads_free(&heads);
	return count > 0 ? (unsigned)count : 0;
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
