/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb.h"

#include <stdlib.h>

#include "base/port_set.h"

struct itb *itb_create(const struct itb_config *config)
{
	struct itb *itb = calloc(1, sizeof(*itb));

	if (itb == NULL)
		return NULL;
	itb->config = *config;
	itb_pool_init(&itb->pool, config->pool_bytes);
	return itb;
}

void itb_destroy(struct itb *itb)
{
	free(itb);
}

static uint64_t room_of(const struct itb *itb, const struct weft_packet *packet)
{
	return packet->bytes > itb->config.frame_bytes_min ? packet->bytes
							   : itb->config.frame_bytes_min;
}

static struct itb_message *place_of(struct itb *itb, const struct weft_packet *packet)
{
	uint32_t key = (uint32_t)packet->source << 16 | packet->destination;

	return &itb->open[(key * 0x9e3779b1u) >> 26];
}

_Static_assert(ITB_OPEN_MESSAGES == 1 << 6, "the upper six bits of the key");

static bool is_of(const struct itb_message *message, const struct weft_packet *packet)
{
	return message->open && message->source == packet->source &&
	       message->destination == packet->destination && message->message == packet->message;
}

/* Adds a frame to its message, which starts here if it is unknown. Returns false if all earlier
 * frames were forwarded too long ago. */
static bool join_message(struct itb *itb, const struct weft_packet *packet, weft_time now)
{
	struct itb_message *message = place_of(itb, packet);
	bool tail = (packet->flags & FRAME_F_TAIL) != 0;

	if (!is_of(message, packet)) {
		if (!tail)
			*message = (struct itb_message){.source = packet->source,
				.destination = packet->destination,
				.message = packet->message,
				.held = 1,
				.open = true};
		return true;
	}
	if (message->held == 0 && now - message->sent_at > itb->config.pause_ps)
		message->overtaken = true;
	message->held++;
	message->open = !tail;
	return !message->overtaken;
}

static void leave_message(struct itb *itb, const struct weft_packet *packet, weft_time now)
{
	struct itb_message *message = place_of(itb, packet);

	if (!is_of(message, packet))
		return;
	message->held -= message->held > 0;
	message->sent_at = now;
}

/* Sets the end mark at the first host that absorbs a message; later hosts cannot restore it. */
static void set_end_mark(struct itb *itb, struct weft_packet *packet, bool in_time)
{
	bool first = memchr(packet->route, ROUTE_TYPE_ITB, packet->cursor) == NULL;

	if ((packet->flags & FRAME_F_TAIL) == 0)
		return;
	itb->messages++;
	if (in_time && first)
		packet->flags |= FRAME_F_END_MARK;
	if (!in_time)
		packet->flags &= (uint8_t)~FRAME_F_END_MARK;
	itb->overtaken += !in_time;
}

static void push(struct itb_fifo *fifo, struct weft_packet *packet)
{
	packet->next = NULL;
	if (fifo->head == NULL)
		fifo->head = packet;
	else
		fifo->tail->next = packet;
	fifo->tail = packet;
}

bool itb_absorb(
	struct itb *itb, struct weft_packet *packet, uint8_t vc, weft_time header_ps, weft_time now)
{
	if (!itb_pool_take(&itb->pool, room_of(itb, packet))) {
		itb->discarded++;
		return false;
	}
	itb->frames++;
	if (!packet->control)
		set_end_mark(itb, packet, join_message(itb, packet, now));
	packet->cursor++;
	packet->flags &= (uint8_t)~FRAME_F_ADAPTED;
	packet->vc = packet->vc_next = packet->header_vc = packet->vc_original = vc;
	packet->hop = packet->route[packet->cursor];
	packet->arrived_ps = header_ps;
	packet->stalled = 0;
	if (packet->control) {
		push(&itb->control, packet);
		return true;
	}
	itb->absorbed++;
	itb->waiting |= 1u << vc;
	push(&itb->data[vc], packet);
	return true;
}

static weft_time ready_at(const struct itb *itb, const struct weft_packet *packet)
{
	return packet->arrived_ps + itb->config.detection_ps + itb->config.programming_ps;
}

/* Removes the head. 'arrived_ps' is then the time from which the packet could have been sent. */
static struct weft_packet *pop(struct itb *itb, struct itb_fifo *fifo)
{
	struct weft_packet *packet = fifo->head;

	packet->arrived_ps = ready_at(itb, packet);
	fifo->head = packet->next;
	packet->next = NULL;
	itb_pool_give(&itb->pool, room_of(itb, packet));
	itb->frames--;
	return packet;
}

struct weft_packet *itb_next_control(struct itb *itb, weft_time now)
{
	if (itb->control.head == NULL || ready_at(itb, itb->control.head) > now)
		return NULL;
	itb->control_sent++;
	return pop(itb, &itb->control);
}

unsigned itb_ready(
	const struct itb *itb, const struct credit_tx *tx, weft_time now, uint32_t *blocked)
{
	uint32_t dry = 0;
	unsigned found = FRAME_VCS_MAX;

	for (uint32_t vcs = itb->waiting; vcs != 0 && found == FRAME_VCS_MAX;) {
		unsigned vc = bits_round_robin(vcs, itb->next_vc);
		const struct weft_packet *head = itb->data[vc].head;

		vcs &= ~(1u << vc);
		if (ready_at(itb, head) > now)
			continue;
		if (credit_suffices(&tx[vc], head->blocks))
			found = vc;
		else
			dry |= 1u << vc;
	}
	if (blocked != NULL)
		*blocked = dry;
	return found;
}

struct weft_packet *itb_next_data(struct itb *itb, unsigned vc, weft_time now)
{
	struct weft_packet *packet = pop(itb, &itb->data[vc]);

	if (itb->data[vc].head == NULL)
		itb->waiting &= ~(1u << vc);
	itb->next_vc = (uint8_t)((vc + 1) % FRAME_VCS_MAX);
	itb->reinjected++;
	itb->delay_ps +=
		now - packet->arrived_ps + itb->config.detection_ps + itb->config.programming_ps;
	leave_message(itb, packet, now);
	itb_share_sent_in_transit(&itb->turn);
	return packet;
}

weft_time itb_due(const struct itb *itb, weft_time now)
{
	weft_time due = WEFT_TIME_NEVER;

	for (uint32_t vcs = itb->waiting; vcs != 0; vcs &= vcs - 1) {
		weft_time at = ready_at(itb, itb->data[__builtin_ctz(vcs)].head);

		if (at > now && at < due)
			due = at;
	}
	return due;
}

struct weft_packet *itb_drain(struct itb *itb)
{
	struct weft_packet *chain = NULL;

	for (unsigned vc = 0; vc <= FRAME_VCS_MAX; vc++) {
		struct itb_fifo *fifo = vc < FRAME_VCS_MAX ? &itb->data[vc] : &itb->control;

		while (fifo->head != NULL) {
			struct weft_packet *packet = pop(itb, fifo);

			itb->abandoned += !packet->control;
			packet->next = chain;
			chain = packet;
		}
	}
	itb->waiting = 0;
	memset(itb->open, 0, sizeof(itb->open));
	return chain;
}

const char *itb_check(const struct itb *itb)
{
	uint64_t bytes = 0, data = 0, frames = 0;

	for (unsigned vc = 0; vc <= FRAME_VCS_MAX; vc++) {
		const struct itb_fifo *fifo = vc < FRAME_VCS_MAX ? &itb->data[vc] : &itb->control;

		if (vc < FRAME_VCS_MAX && (fifo->head != NULL) != ((itb->waiting >> vc & 1) != 0))
			return "the set of VCs with frames in transit is wrong";
		for (const struct weft_packet *packet = fifo->head; packet != NULL;
			packet = packet->next) {
			bytes += room_of(itb, packet);
			data += vc < FRAME_VCS_MAX;
			frames++;
		}
	}
	if (frames != itb->frames)
		return "the number of frames in transit is wrong";
	if (bytes != itb->pool.used || itb->pool.peak > itb->pool.size)
		return "the pool of frames in transit differs from its contents, or overflowed";
	if (itb->absorbed != itb->reinjected + itb->abandoned + data)
		return "absorbed frames differ from re-injected + abandoned + held";
	return NULL;
}
