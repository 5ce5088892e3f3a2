/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * A buffer (switch, input, VC) is named by the channel that fills it. A head without credits waits
 * for space in the buffer behind its output. The available space is the buffer's size minus the
 * queues that cannot move. A queue is therefore dead if its head does not fit even after all other
 * queues have drained. Removing the queues that can move, repeatedly, leaves the largest set of
 * dead queues. Frames in flight and credits not yet granted only add space in buffers that are not
 * full of dead queues. The result therefore does not depend on timing: a cycle found while the
 * fabric is running will never dissolve. Following dead heads leads into a cycle. */

#include "deadlock.h"

#include <errno.h>
#include <stdlib.h>

/* --- waiting heads --- */

/* The "buffer" of a host: no head waits for it. */
#define HOST_BIT (UINT32_C(1) << 31)

static uint32_t buffer_of(uint32_t at, unsigned input, unsigned vc)
{
	return (at * TOPOLOGY_PORTS_MAX + input) * FRAME_VCS_MAX + vc;
}

/* Appends a head behind 'from' if it waits for a switch; hosts accept every frame. */
static int add_head(const struct deadlock_view *view, struct topology_port from, unsigned vc,
	struct deadlock_head head, struct deadlock_heads *heads)
{
	struct topology_port to;

	if (!topology_peer(view->topology, from, &to) || to.kind != DEVICE_SWITCH)
		return 0;
	if (deadlock_heads_reserve(heads, heads->count + 1) < 0)
		return -ENOMEM;
	head.awaits = buffer_of(to.device, to.port, vc);
	heads->head[heads->count++] = head;
	return 0;
}

static int add_queue(const struct deadlock_view *view, const struct weft_switch *sw,
	weft_time age_ps, struct topology_port from, unsigned input, unsigned vc,
	struct deadlock_heads *heads)
{
	const struct voq *queue = &switch_queues(sw, from.port, input)[vc];
	const struct weft_packet *packet = queue->head;
	struct deadlock_head head = {.buffer = buffer_of(from.device, input, vc),
		.output = from.port,
		.room = sw->port[input].link.rx[vc].capacity,
		.queued = queue->blocks};

	if (packet == NULL || packet->out_port != from.port ||
		credit_suffices(&sw->port[from.port].link.tx[packet->vc_next], packet->blocks))
		return 0;
	head.since = queue->stalled_at;
	if (queue->stalled_at != 0 && queue->stalled_at < view->now)
		head.waited_ps = view->now - queue->stalled_at;
	head.needs = packet->blocks;
	return head.waited_ps < age_ps ? 0 : add_head(view, from, packet->vc_next, head, heads);
}

static int add_output(const struct deadlock_view *view, const struct weft_switch *sw,
	weft_time age_ps, struct topology_port from, struct deadlock_heads *heads)
{
	const struct switch_output *output = &sw->port[from.port].output;
	int result = 0;

	PORT_SET_EACH(inputs, output->stalled | output->ready) {
		unsigned input = port_set_first(inputs);
		unsigned vcs = switch_stalled_vcs(sw, from.port, input) |
			       switch_ready_vcs(sw, from.port, input);

		for (; vcs != 0 && result == 0; vcs &= vcs - 1)
			result = add_queue(
				view, sw, age_ps, from, input, (unsigned)__builtin_ctz(vcs), heads);
	}
	return result;
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

int deadlock_collect_switch(const struct deadlock_view *view, uint32_t number,
	const struct weft_switch *sw, weft_time age_ps, struct deadlock_heads *heads)
{
	struct topology_port from = {DEVICE_SWITCH, number, 0};
	int result = 0;

	for (; from.port < sw->ports && result == 0; from.port++)
		result = add_output(view, sw, age_ps, from, heads);
	return result;
}

int deadlock_collect(
	const struct deadlock_view *view, weft_time age_ps, struct deadlock_heads *heads)
{
	int result = 0;

	for (uint32_t at = 0; at < view->topology->switches && result == 0; at++)
		if (view->sw[at] != NULL)
			result = deadlock_collect_switch(view, at, view->sw[at], age_ps, heads);
	return result;
}

int deadlock_collect_host(const struct deadlock_view *view, uint32_t host, uint32_t vcs,
	uint32_t needs, weft_time since, struct deadlock_heads *heads)
{
	const struct deadlock_head head = {
		.buffer = HOST_BIT | host, .needs = needs, .waited_ps = view->now - since};
	int result = 0;

	for (; vcs != 0 && result == 0; vcs &= vcs - 1)
		result = add_head(view, (struct topology_port){DEVICE_HOST, host, 0},
			(unsigned)__builtin_ctz(vcs), head, heads);
	return result;
}

void deadlock_heads_free(struct deadlock_heads *heads)
{
	free(heads->head);
	*heads = (struct deadlock_heads){0};
}

/* --- search --- */

/* Heads are sorted, so that the heads of a buffer are adjacent. */
struct search {
	struct deadlock_head *head;
	size_t count;
	size_t *first; /* by head: index of the first head of its own buffer */
	size_t *to; /* by head: index of the first head of the buffer it waits for; 'count': none */
	uint64_t *held; /* by first head of a buffer: blocks in the buffer's dead queues */
};

static int compare(const void *a, const void *b)
{
	const struct deadlock_head *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	if (x->output != y->output)
		return x->output < y->output ? -1 : 1;
	return x->awaits < y->awaits ? -1 : x->awaits > y->awaits;
}

static void sort(struct deadlock_heads *heads)
{
	if (heads->count > 0)
		qsort(heads->head, heads->count, sizeof(*heads->head), compare);
}

/* Returns the index of the buffer's first head, or 'count' if the buffer has none and can move. */
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

static void begin_search(struct search *search)
{
	for (size_t at = 0; at < search->count; at++) {
		struct deadlock_head *head = &search->head[at];

		search->first[at] =
			at > 0 && head[-1].buffer == head->buffer ? search->first[at - 1] : at;
		search->to[at] = first_of(search, head->awaits);
		search->held[search->first[at]] += head->queued;
		head->dead = true;
	}
}

static bool can_move(const struct search *search, size_t at)
{
	size_t to = search->to[at];

	return to == search->count ||
	       search->held[to] + search->head[at].needs <= search->head[to].room;
}

/* Clears 'dead' for heads that can move, until nothing changes. Returns a dead head of a switch, or
 * 'count' if there is none. */
static size_t find_dead(struct search *search)
{
	size_t dead;
	bool changed;

	do {
		changed = false;
		dead = search->count;
		for (size_t at = search->count; at-- > 0;) {
			struct deadlock_head *head = &search->head[at];

			if (!head->dead)
				continue;
			if (can_move(search, at)) {
				head->dead = false;
				search->held[search->first[at]] -= head->queued;
				changed = true;
			} else if (!deadlock_is_host(head)) {
				dead = at;
			}
		}
	} while (changed);
	return dead;
}

/* Returns the first dead head in the buffer that a dead head waits for. */
static size_t next_dead(const struct search *search, size_t at)
{
	for (at = search->to[at]; !search->head[at].dead; at++)
		;
	return at;
}

/* Returns the port that fills the buffer. */
static struct topology_port sender_of(const struct topology *topology, uint32_t buffer)
{
	struct topology_port at = deadlock_input(buffer), sender = at;

	topology_peer(topology, at, &sender);
	return sender;
}

/* Finds the cycle that a dead head leads to. A walk of search->count steps ends inside it. */
static unsigned list_circle(const struct search *search, size_t at, const struct topology *topology,
	struct topology_port *cycle, unsigned room)
{
	unsigned count = 0;
	size_t in;

	for (size_t step = 0; step < search->count; step++)
		at = next_dead(search, at);
	in = at;
	do {
		if (count < room)
			cycle[count] = sender_of(topology, search->head[at].buffer);
		count++;
		at = next_dead(search, at);
	} while (at != in);
	return count;
}

int deadlock_search(struct deadlock_heads *heads, const struct topology *topology,
	struct topology_port *cycle, unsigned room)
{
	struct search search = {.head = heads->head,
		.count = heads->count,
		.first = calloc(heads->count + 1, sizeof(*search.first)),
		.to = calloc(heads->count + 1, sizeof(*search.to)),
		.held = calloc(heads->count + 1, sizeof(*search.held))};
	bool memory = search.first != NULL && search.to != NULL && search.held != NULL;
	unsigned found = 0;

	if (memory && heads->count > 0) {
		size_t dead;

		sort(heads);
		begin_search(&search);
		dead = find_dead(&search);
		if (dead != search.count)
			found = list_circle(&search, dead, topology, cycle, room);
	}
	free(search.first);
	free(search.to);
	free(search.held);
	return memory ? (int)found : -ENOMEM;
}

void deadlock_keep_common(struct deadlock_heads *before, struct deadlock_heads *now)
{
	size_t kept = 0, at = 0;

	sort(before);
	sort(now);
	for (size_t i = 0; i < before->count; i++) {
		while (at < now->count && compare(&now->head[at], &before->head[i]) < 0)
			at++;
		if (at < now->count && compare(&now->head[at], &before->head[i]) == 0 &&
			before->head[i].since != 0 && before->head[i].since == now->head[at].since)
			before->head[kept++] = before->head[i];
	}
	before->count = kept;
}

struct topology_port deadlock_input(uint32_t buffer)
{
	if ((buffer & HOST_BIT) != 0)
		return (struct topology_port){DEVICE_HOST, buffer & ~HOST_BIT, 0};
	return (struct topology_port){DEVICE_SWITCH, buffer / FRAME_VCS_MAX / TOPOLOGY_PORTS_MAX,
		(uint8_t)(buffer / FRAME_VCS_MAX % TOPOLOGY_PORTS_MAX)};
}

bool deadlock_is_host(const struct deadlock_head *head)
{
	return (head->buffer & HOST_BIT) != 0;
}

int deadlock_result(const struct deadlock_circle *circle, const struct topology *topology,
	struct run_result *result)
{
	int code = run_result_add_cycle(result, topology, circle->port,
		circle->channels < DEADLOCK_CIRCLE_MAX ? circle->channels : DEADLOCK_CIRCLE_MAX);

	result->deadlock = result->deadlock || circle->channels > 0;
	if (circle->channels > 0)
		result->channels = circle->channels;
	return code;
}

/* --- JSON --- */

/* Heads for the process that searches a whole lab. Hosts are omitted: no head waits for them. */

json_t *deadlock_heads_json(const struct deadlock_heads *heads)
{
	json_t *list = json_array();

	for (size_t i = 0; list != NULL && i < heads->count; i++) {
		const struct deadlock_head *head = &heads->head[i];

		if (!deadlock_is_host(head))
			json_array_append_new(
				list, json_pack("[I,I,I,I,I,I,I]", (json_int_t)head->buffer,
					      (json_int_t)head->awaits, (json_int_t)head->room,
					      (json_int_t)head->queued, (json_int_t)head->needs,
					      (json_int_t)head->output, (json_int_t)head->since));
	}
	return list;
}

/* Returns true if the buffer is at a switch port of the topology that has a cable. */
static bool is_buffer(const struct topology *topology, json_int_t buffer)
{
	struct topology_port at = deadlock_input((uint32_t)buffer), peer;

	return buffer >= 0 && buffer < UINT32_MAX && at.kind == DEVICE_SWITCH &&
	       at.device < topology->switches && at.port < topology->switch_at[at.device].ports &&
	       topology_peer(topology, at, &peer);
}

static bool is_count(json_int_t value)
{
	return value >= 0 && value <= INT32_MAX;
}

int deadlock_heads_read(
	struct deadlock_heads *heads, const json_t *list, const struct topology *topology)
{
	if (!json_is_array(list))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_int_t buffer, awaits, room, queued, needs, output, since;

		if (json_unpack(json_array_get(list, i), "[I,I,I,I,I,I,I!]", &buffer, &awaits,
			    &room, &queued, &needs, &output, &since) != 0 ||
			!is_buffer(topology, buffer) || !is_buffer(topology, awaits) ||
			!is_count(room) || !is_count(queued) || !is_count(needs) || output < 0 ||
			output >= TOPOLOGY_PORTS_MAX || since < 0)
			return -EINVAL;
		if (deadlock_heads_reserve(heads, heads->count + 1) < 0)
			return -ENOMEM;
		heads->head[heads->count++] = (struct deadlock_head){.buffer = (uint32_t)buffer,
			.awaits = (uint32_t)awaits,
			.room = (uint32_t)room,
			.queued = (uint32_t)queued,
			.needs = (uint32_t)needs,
			.output = (uint8_t)output,
			.since = (weft_time)since};
	}
	return 0;
}
