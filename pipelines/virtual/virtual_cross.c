/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_cross.h"

#include <stdlib.h>
#include <string.h>

#include "virtual_parts.h"
#include "virtual_send.h"

#define ROOM_FIRST 64u

void virtual_box_free(struct virtual_box *box)
{
	free(box->packet);
	free(box->left);
	free(box->extension);
	free(box->control);
	*box = (struct virtual_box){0};
}

/* Room for one element more, or the run has failed. Elements begin at cache lines: another core
 * reads them, and each line takes it as long as several events. */
static bool has_room(struct virtual_fabric *fabric, void **list, uint32_t count, uint32_t *room,
	size_t element_bytes)
{
	uint32_t more = *room == 0 ? ROOM_FIRST : *room * 2;
	void *larger;

	if (count < *room)
		return true;
	larger = aligned_alloc(64, more * element_bytes);
	if (larger == NULL) {
		fabric->failed = true;
		return false;
	}
	if (count > 0)
		memcpy(larger, *list, count * element_bytes);
	free(*list);
	*list = larger;
	*room = more;
	return true;
}

/* A packet more without its origin. */
static struct virtual_crossing_packet *add_packet(
	struct virtual_fabric *fabric, struct virtual_box *box, struct weft_packet *packet)
{
	void *list = box->packet, *left = box->left;
	bool has = has_room(fabric, &list, box->packets, &box->packet_room, sizeof(*box->packet)) &&
		   has_room(fabric, &left, box->packets, &box->left_room, sizeof(*box->left));

	box->packet = list;
	box->left = left;
	if (!has)
		return NULL;
	__builtin_prefetch(virtual_origin_of(fabric, packet));
	box->left[box->packets] = packet;
	box->packet[box->packets].packet = *packet;
	return &box->packet[box->packets++];
}

static struct virtual_crossing_control *add_control(
	struct virtual_fabric *fabric, struct virtual_box *box)
{
	void *list = box->control;
	bool has =
		has_room(fabric, &list, box->controls, &box->control_room, sizeof(*box->control));

	box->control = list;
	return has ? &box->control[box->controls++] : NULL;
}

void virtual_cross_packet(struct virtual_fabric *fabric, struct weft_packet *packet,
	enum virtual_crossing kind, weft_time at, uint32_t order)
{
	struct virtual_box *box = virtual_box_for(fabric, order);
	void *list = box->extension;
	bool extended = fabric->extension != NULL;
	struct virtual_crossing_packet *crossing;

	if (extended && !has_room(fabric, &list, box->packets, &box->extension_room,
				sizeof(*box->extension)))
		return;
	box->extension = list;
	crossing = add_packet(fabric, box, packet);
	if (crossing != NULL) {
		crossing->at = at;
		crossing->order = order;
		crossing->kind = kind;
		if (extended)
			box->extension[box->packets - 1] =
				fabric->extension[virtual_item_of(fabric, packet)];
		box->first = at < box->first ? at : box->first;
	}
	virtual_forget_flows(fabric, packet);
	fabric->pool.out--;
}

static void complete(struct virtual_fabric *fabric, struct virtual_box *box)
{
	for (; box->complete < box->packets; box->complete++) {
		struct weft_packet *packet = box->left[box->complete];

		box->packet[box->complete].origin = *virtual_origin_of(fabric, packet);
		virtual_return_packet(fabric, packet);
	}
}

void virtual_cross_complete(struct virtual_fabric *fabric)
{
	struct virtual_worker *worker = &fabric->parts->worker[fabric->part];

	for (unsigned i = 0; i < worker->parts->count; i++)
		complete(fabric, &worker->box[worker->side][i]);
}

struct weft_packet *virtual_cross_reclaim(struct virtual_fabric *fabric)
{
	struct weft_packet *packet;

	if (fabric->parts == NULL)
		return NULL;
	virtual_cross_complete(fabric);
	packet = fabric->pool.returned;
	if (packet != NULL)
		fabric->pool.returned = packet->next;
	return packet;
}

void virtual_start_special(struct virtual_fabric *fabric, const struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now)
{
	if (channel->crosses) {
		if (fabric->watch != NULL)
			virtual_trace_out(fabric, channel->done, packet, now);
		virtual_cross_packet(fabric, packet, VIRTUAL_CROSSING_DATA, at, channel->arrive);
		return;
	}
	event_queue_push_lane(fabric->events, channel->lane,
		(struct sim_event){at, channel->arrive, virtual_item_of(fabric, packet)});
	virtual_trace_out(fabric, channel->done, packet, now);
}

struct virtual_crossing_control *virtual_cross_control(struct virtual_fabric *fabric,
	enum virtual_crossing_control_kind kind, const struct virtual_tx *channel, uint32_t order,
	weft_time at)
{
	struct virtual_box *box = virtual_box_for(fabric, order);
	struct virtual_crossing_control *crossing = add_control(fabric, box);

	if (crossing == NULL)
		return NULL;
	crossing->at = at;
	crossing->order = order;
	crossing->kind = kind;
	crossing->channel = channel;
	box->first = at < box->first ? at : box->first;
	return crossing;
}
