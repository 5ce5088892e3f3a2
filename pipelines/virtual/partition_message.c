/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "partition_message.h"

#include <stdlib.h>
#include <string.h>

#include "virtual_faults.h"
#include "virtual_partitions.h"
#include "virtual_pause.h"
#include "virtual_send.h"

#define ROOM_FIRST 64u

void partition_mailbox_free(struct partition_mailbox *box)
{
	free(box->packet);
	free(box->left);
	free(box->extension);
	free(box->control);
	*box = (struct partition_mailbox){0};
}

/* Makes space for another element; on failure, the run has failed. Elements are cache-line aligned
 * because a different core reads them, and each line costs that core as much as several events. */
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

/* Adds a packet without its origin. */
static struct partition_crossing_packet *add_packet(
	struct virtual_fabric *fabric, struct partition_mailbox *box, struct weft_packet *packet)
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

static struct partition_crossing_control *add_control(
	struct virtual_fabric *fabric, struct partition_mailbox *box)
{
	void *list = box->control;
	bool has =
		has_room(fabric, &list, box->controls, &box->control_room, sizeof(*box->control));

	box->control = list;
	return has ? &box->control[box->controls++] : NULL;
}

void partition_send_packet(struct virtual_fabric *fabric, struct weft_packet *packet,
	enum partition_crossing kind, weft_time at, uint32_t order)
{
	struct partition_mailbox *box = partition_mailbox_for(fabric, order);
	void *list = box->extension;
	bool extended = fabric->extension != NULL;
	struct partition_crossing_packet *crossing;

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

static void complete(struct virtual_fabric *fabric, struct partition_mailbox *box)
{
	for (; box->complete < box->packets; box->complete++) {
		struct weft_packet *packet = box->left[box->complete];

		box->packet[box->complete].origin = *virtual_origin_of(fabric, packet);
		virtual_return_packet(fabric, packet);
	}
}

void partition_message_complete(struct virtual_fabric *fabric)
{
	struct virtual_worker *worker = &fabric->partitions->worker[fabric->partition];

	for (unsigned i = 0; i < worker->partitions->count; i++)
		complete(fabric, &worker->box[worker->side][i]);
}

struct weft_packet *partition_message_reclaim(struct virtual_fabric *fabric)
{
	struct weft_packet *packet;

	if (fabric->partitions == NULL)
		return NULL;
	partition_message_complete(fabric);
	packet = fabric->pool.returned;
	if (packet != NULL)
		fabric->pool.returned = packet->next;
	return packet;
}

/* Delays a packet behind pause frames and mapper frames, which are sent first. */
static weft_time hold_back(
	const struct virtual_fabric *fabric, struct virtual_tx *channel, weft_time now)
{
	weft_time wait = fabric->pauses != NULL ? virtual_pause_wait(fabric, channel, now) : 0;

	if (fabric->mapper != NULL && virtual_fault_of(fabric, channel)->until > now + wait)
		wait = virtual_fault_of(fabric, channel)->until - now;
	channel->free_at += wait;
	return wait;
}

void virtual_start_special(struct virtual_fabric *fabric, struct virtual_tx *channel,
	struct weft_packet *packet, weft_time at, weft_time now)
{
	weft_time more = wire_takes(packet->bytes + FRAME_WIRE_OVERHEAD,
		byte_time_part(channel->byte_time), &channel->rest);
	uint32_t item = virtual_item_of(fabric, packet);
	bool lost;

	channel->free_at += more;
	channel->busy_ps += more;
	at += channel->waits ? more : 0;
	if (fabric->pauses != NULL || fabric->mapper != NULL)
		at += hold_back(fabric, channel, now);
	lost = fabric->faults != NULL && virtual_fault_hits(fabric, channel, packet, &at);

	if (fabric->watch != NULL)
		virtual_trace_out(fabric, channel->done, packet, now);
	if (channel->crosses)
		partition_send_packet(fabric, packet,
			lost ? VIRTUAL_CROSSING_LOST : VIRTUAL_CROSSING_DATA, at, channel->arrive);
	else if (lost)
		event_queue_push(
			fabric->events, (struct sim_event){at, channel->arrive | VIRTUAL_WAKE,
						item + VIRTUAL_LOST_ITEM});
	else
		event_queue_push_lane(fabric->events, channel->lane,
			(struct sim_event){at, channel->arrive, item});
}

struct partition_crossing_control *partition_send_control(struct virtual_fabric *fabric,
	enum partition_crossing_control_kind kind, const struct virtual_tx *channel, uint32_t order,
	weft_time at)
{
	struct partition_mailbox *box = partition_mailbox_for(fabric, order);
	struct partition_crossing_control *crossing = add_control(fabric, box);

	if (crossing == NULL)
		return NULL;
	crossing->at = at;
	crossing->order = order;
	crossing->kind = kind;
	crossing->channel = channel;
	box->first = at < box->first ? at : box->first;
	return crossing;
}
