/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_control.h"

#include <errno.h>
#include <stdlib.h>

#define NONE      UINT32_MAX
#define FS_PER_NS 1000000u

struct datagram_control *datagram_control_create(const struct source_control_config *config)
{
	struct datagram_control *control = calloc(1, sizeof(*control));
	size_t hosts = config->hosts;

	if (control == NULL)
		return NULL;
	control->source = source_control_create(config);
	control->free = NONE;
	control->host_since_ns = UINT64_MAX;
	if (source_control_throttles(config->kind)) {
		control->message = malloc(DATAGRAM_PAUSED_MAX * sizeof(control->message[0]));
		control->lane = calloc(hosts, sizeof(control->lane[0]));
		control->due = malloc(hosts * sizeof(control->due[0]));
	}
	if (control->source != NULL && (!source_control_throttles(config->kind) ||
					       (control->message != NULL && control->lane != NULL &&
						       control->due != NULL)))
		return control;
	if (control->source != NULL)
		errno = ENOMEM;
	datagram_control_destroy(control);
	return NULL;
}

void datagram_control_destroy(struct datagram_control *control)
{
	if (control == NULL)
		return;
	source_control_destroy(control->source);
	free(control->message);
	free(control->lane);
	free(control->due);
	free(control);
}

/* --- routes --- */

static __attribute__((noinline)) void begin(
	struct datagram *nic, uint16_t destination, unsigned count)
{
	uint8_t switches[METAPATH_PATHS_MAX];
	unsigned length;

	for (unsigned i = 0; i < count && i < METAPATH_PATHS_MAX; i++) {
		const uint8_t *route = route_set_get(
			nic->config.routes, nic->config.host, destination, i, &length);

		switches[i] = (uint8_t)route_switches(route, length);
	}
	source_control_begin(nic->control->source, destination, count, switches);
}

bool datagram_control_route(
	struct datagram *nic, uint16_t destination, weft_time now, struct datagram_route *chosen)
{
	const uint8_t *pair = route_set_pair(nic->config.routes, nic->config.host, destination);
	struct source_control *source = nic->control->source;
	unsigned count = route_pair_count(pair), length = 0;

	*chosen = (struct datagram_route){.route = NULL};
	if (count == 0)
		return false;
	if (__builtin_expect(!source_control_has_begun(source, destination), 0))
		begin(nic, destination, count);
	chosen->alternatives = (uint8_t)count;
	chosen->which = (uint8_t)source_control_choose(source, destination, now / PS_PER_NS);
	chosen->route = route_pair_get(pair, chosen->which, &length);
	chosen->length = (uint8_t)length;
	return true;
}

/* --- heap of lanes, with the earliest at the root --- */

static void heap_push(struct datagram_control *control, uint64_t at_ns, uint16_t destination)
{
	struct datagram_due *due = control->due;
	uint32_t at = control->dues++;

	for (; at > 0 && due[(at - 1) / 2].at_ns > at_ns; at = (at - 1) / 2)
		due[at] = due[(at - 1) / 2];
	due[at] = (struct datagram_due){at_ns, destination};
}

static void heap_pop(struct datagram_control *control)
{
	struct datagram_due *due = control->due, last = due[--control->dues];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= control->dues)
			break;
		if (child + 1 < control->dues && due[child + 1].at_ns < due[child].at_ns)
			child++;
		if (due[child].at_ns >= last.at_ns)
			break;
		due[at] = due[child];
		at = child;
	}
	due[at] = last;
}

/* --- paused messages --- */

static uint32_t take_place(struct datagram_control *control)
{
	uint32_t place = control->free;

	if (place != NONE)
		control->free = control->message[place].next;
	else if (control->used < DATAGRAM_PAUSED_MAX)
		place = control->used++;
	control->held += place != NONE;
	return place;
}

/* A lane's links are slot + 1, so that a zeroed lane is empty. */
static bool lane_is_empty(const struct datagram_lane *lane)
{
	return lane->first == 0;
}

static void link_first(struct datagram_control *control, struct datagram_lane *lane, uint32_t place)
{
	control->message[place].next = lane->first;
	if (lane->first == 0)
		lane->last = place + 1;
	lane->first = place + 1;
}

static void link_last(struct datagram_control *control, struct datagram_lane *lane, uint32_t place)
{
	control->message[place].next = 0;
	if (lane->first == 0)
		lane->first = place + 1;
	else
		control->message[lane->last - 1].next = place + 1;
	lane->last = place + 1;
}

/* Pauses the rest of the message at the head. Returns false if there is no room. */
static bool pause_head(struct datagram *nic, unsigned vc, weft_time now)
{
	struct datagram_control *control = nic->control;
	struct datagram_fifo *fifo = &nic->fifo[vc];
	struct datagram_message message = fifo->message[fifo->head];
	struct datagram_lane *lane = &control->lane[message.destination];
	uint32_t place = take_place(control);
	bool empty = lane_is_empty(lane);

	if (place == NONE)
		return false;
	message.bytes -= fifo->sent_bytes;
	control->message[place] = (struct datagram_paused){.message = message, .vc = (uint8_t)vc};
	if (lane->released || fifo->sent_bytes != 0)
		link_first(control, lane, place);
	else
		link_last(control, lane, place);
	if (empty || lane->released) {
		lane->since_ns = now / PS_PER_NS;
		heap_push(control, source_control_ready_ns(control->source, message.destination),
			message.destination);
	}
	lane->released = false;
	datagram_drop_head(nic, vc);
	return true;
}

static bool head_pauses(const struct datagram *nic, const struct datagram_fifo *fifo, uint64_t now)
{
	const struct datagram_control *control = nic->control;
	uint16_t destination = fifo->message[fifo->head].destination;
	const struct datagram_lane *lane = &control->lane[destination];

	return source_control_ready_ns(control->source, destination) > now ||
	       (!lane_is_empty(lane) && !lane->released);
}

/* A FIFO accepts one returning message at a time, between two new messages. */
static bool can_return(const struct datagram *nic, unsigned vc)
{
	const struct datagram_fifo *fifo = &nic->fifo[vc];

	return fifo->count == 0 ||
	       (fifo->sent_bytes == 0 && fifo->count <= fifo->mask &&
		       !nic->control->lane[fifo->message[fifo->head].destination].released);
}

/* Returns the message whose pause ended first to the head of its FIFO. Returns false if there is
 * none or its FIFO cannot accept it. */
static bool release(struct datagram *nic, uint64_t now)
{
	struct datagram_control *control = nic->control;
	struct datagram_lane *lane;
	struct datagram_paused *paused;
	struct datagram_fifo *fifo;
	uint16_t destination;
	uint32_t place;

	if (control->dues == 0 || control->due[0].at_ns > now)
		return false;
	destination = control->due[0].destination;
	lane = &control->lane[destination];
	place = lane->first - 1;
	paused = &control->message[place];
	if (!can_return(nic, paused->vc))
		return false;
	fifo = &nic->fifo[paused->vc];
	heap_pop(control);
	source_control_count_pause(control->source, destination, lane->since_ns, now);
	fifo->head = (fifo->head - 1) & fifo->mask;
	fifo->message[fifo->head] = paused->message;
	fifo->count++;
	lane->released = true;
	lane->first = paused->next;
	if (lane->first == 0)
		lane->last = 0;
	datagram_begin_head(nic, paused->vc);
	paused->next = control->free;
	control->free = place;
	control->held--;
	return true;
}

/* Updates the pause of the whole host. Returns true while it lasts. */
static bool host_pauses(struct datagram_control *control, uint64_t now)
{
	if (source_control_ready_ns(control->source, 0) > now) {
		if (control->host_since_ns == UINT64_MAX)
			control->host_since_ns = now;
		return true;
	}
	if (control->host_since_ns != UINT64_MAX)
		source_control_count_pause(control->source, 0, control->host_since_ns, now);
	control->host_since_ns = UINT64_MAX;
	return false;
}

/* Removes messages that must pause from the FIFOs. Returns the set of VCs whose head must pause but
 * finds no room among the paused messages. */
static uint16_t pause_fifos(struct datagram *nic, weft_time now)
{
	uint16_t held = 0;

	for (uint16_t vcs = nic->waiting; vcs != 0; vcs &= (uint16_t)(vcs - 1)) {
		unsigned vc = (unsigned)__builtin_ctz(vcs);
		const struct datagram_fifo *fifo = &nic->fifo[vc];

		while (fifo->count > 0 && head_pauses(nic, fifo, now / PS_PER_NS))
			if (!pause_head(nic, vc, now)) {
				held |= (uint16_t)(1u << vc);
				break;
			}
	}
	return held;
}

static uint16_t pause_heads(struct datagram *nic, weft_time now)
{
	struct datagram_control *control = nic->control;
	uint64_t now_ns = now / PS_PER_NS;
	uint16_t held;

	if (control->source->config.iba.per_host)
		return host_pauses(control, now_ns) ? nic->waiting : 0;
	/* A FIFO emptied by a pause accepts a message whose own pause has ended. */
	do
		held = pause_fifos(nic, now);
	while (release(nic, now_ns));
	return held;
}

uint16_t datagram_control_heads(struct datagram *nic, weft_time now)
{
	struct source_control *source = nic->control->source;
	uint16_t held = source_control_throttles(source->config.kind) ? pause_heads(nic, now) : 0;

	if (!source_control_spreads(source->config.kind))
		return held;
	for (uint16_t vcs = (uint16_t)(nic->waiting & ~held); vcs != 0;
		vcs &= (uint16_t)(vcs - 1)) {
		struct datagram_fifo *fifo = &nic->fifo[__builtin_ctz(vcs)];

		if (fifo->chosen.route == NULL)
			datagram_control_route(
				nic, fifo->message[fifo->head].destination, now, &fifo->chosen);
	}
	return held;
}

static uint64_t frame_ns_of(const struct datagram *nic, const struct weft_packet *packet)
{
	return (packet->bytes + FRAME_WIRE_OVERHEAD) * nic->choice.byte_fs / FS_PER_NS;
}

void datagram_control_resent(struct datagram *nic, const struct weft_packet *packet, weft_time now)
{
	source_control_sent(nic->control->source, packet->destination, frame_ns_of(nic, packet),
		now / PS_PER_NS);
}

void datagram_control_sent(struct datagram *nic, const struct weft_packet *packet, weft_time now)
{
	struct datagram_control *control = nic->control;
	uint16_t destination = packet->destination;
	uint64_t now_ns = now / PS_PER_NS;
	uint64_t frame_ns = frame_ns_of(nic, packet);
	struct datagram_lane *lane;

	source_control_sent(control->source, destination, frame_ns, now_ns);
	if (control->lane == NULL || control->source->config.iba.per_host)
		return;
	lane = &control->lane[destination];
	if ((packet->flags & FRAME_F_TAIL) == 0 || !lane->released)
		return;
	lane->released = false;
	if (lane_is_empty(lane))
		return;
	lane->since_ns = now_ns + frame_ns;
	heap_push(control, source_control_ready_ns(control->source, destination), destination);
}

weft_time datagram_control_due(const struct datagram *nic, weft_time now)
{
	const struct datagram_control *control = nic->control;
	const struct datagram_due *first;

	if (control->lane == NULL)
		return WEFT_TIME_NEVER;
	if (control->source->config.iba.per_host)
		return nic->waiting == 0 || control->host_since_ns == UINT64_MAX
			       ? WEFT_TIME_NEVER
			       : source_control_ready_ns(control->source, 0) * PS_PER_NS;
	if (control->dues == 0)
		return WEFT_TIME_NEVER;
	first = &control->due[0];
	if (first->at_ns * PS_PER_NS > now)
		return first->at_ns * PS_PER_NS;
	/* The message may have to wait behind the head of its FIFO, which waits for credits. */
	return can_return(nic, control->message[control->lane[first->destination].first - 1].vc)
		       ? now
		       : WEFT_TIME_NEVER;
}

const char *datagram_control_check(const struct datagram *nic)
{
	const struct datagram_control *control = nic->control;
	uint32_t held = 0, lanes = 0;

	if (control == NULL || control->lane == NULL)
		return NULL;
	for (uint32_t to = 0; to < nic->config.hosts; to++) {
		const struct datagram_lane *lane = &control->lane[to];

		for (uint32_t at = lane->first; at != 0; at = control->message[at - 1].next)
			held++;
		lanes += lane->first != 0 && !lane->released;
	}
	if (held != control->held)
		return "the number of paused messages is wrong";
	return lanes != control->dues
		       ? "a message is paused, but nothing waits for the end of the pause"
		       : NULL;
}
