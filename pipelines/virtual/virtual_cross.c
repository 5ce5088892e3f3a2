/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_cross.h"

#include <stdlib.h>
#include <string.h>

#include "virtual_cn.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
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

/* --- virtual cross take --- */

/* Turns what crossed from another part into events of its owners. */

/* Arrivals at switches go to the lane of this part's own, among which they come: then they are
 * prefetched, too. */
static void take_data(struct virtual_fabric *fabric, struct sim_event event)
{
	if (virtual_is_host(fabric, event.order))
		event_queue_push(fabric->events, event);
	else
		event_queue_gather(fabric->events, event);
}

void virtual_cross_take_packet(struct virtual_fabric *fabric,
	const struct virtual_crossing_packet *crossing, const struct latency_extension *extension)
{
	struct weft_packet *packet = virtual_take_packet(fabric);

	if (packet == NULL)
		return;
	*packet = crossing->packet;
	*virtual_origin_of(fabric, packet) = crossing->origin;
	if (extension != NULL)
		fabric->extension[virtual_item_of(fabric, packet)] = *extension;
	switch (crossing->kind) {
	case VIRTUAL_CROSSING_DATA:
		take_data(fabric, (struct sim_event){crossing->at, crossing->order,
					  virtual_item_of(fabric, packet)});
		return;
	case VIRTUAL_CROSSING_REPORT:
		virtual_recovery_take(fabric, packet, crossing->at);
		return;
	case VIRTUAL_CROSSING_LOSS:
		virtual_host_lose_at(fabric, packet, crossing->at);
		return;
	}
}

void virtual_cross_end_packets(struct virtual_fabric *fabric)
{
	event_queue_merge_lane(fabric->events, VIRTUAL_LANE_SWITCH);
}

void virtual_cross_take_control(
	struct virtual_fabric *fabric, const struct virtual_crossing_control *crossing)
{
	switch (crossing->kind) {
	case VIRTUAL_CROSSING_CREDIT:
		virtual_push_credit(
			fabric, crossing->channel, crossing->credit, crossing->at, crossing->order);
		return;
	case VIRTUAL_CROSSING_ARN:
		virtual_push_arn(
			fabric, crossing->channel, &crossing->arn, crossing->at, crossing->order);
		return;
	case VIRTUAL_CROSSING_ANSWER:
		virtual_cn_push(fabric, virtual_host_of(fabric, crossing->order), &crossing->answer,
			crossing->at);
		return;
	case VIRTUAL_CROSSING_ACCEPT:
		virtual_goal_note(fabric, crossing->op);
		return;
	}
}

static inline void fetch_packet(const struct virtual_box_contents *contents, uint32_t i)
{
	if (i >= contents->packets)
		return;
	__builtin_prefetch(&contents->packet[i]);
	__builtin_prefetch(&contents->packet[i].origin);
}

/* Another core has written them. All lines together take little longer than one, as far as the core
 * can wait for several. */
static void fetch_first(const struct virtual_box_contents *contents)
{
	for (uint32_t i = 0; i < VIRTUAL_BOX_FETCHED; i++)
		fetch_packet(contents, i);
	for (uint32_t i = 0; i < contents->controls && i < VIRTUAL_BOX_FETCHED; i++)
		__builtin_prefetch(&contents->control[i]);
}

void virtual_cross_take(struct virtual_fabric *fabric, const struct virtual_box_contents *contents)
{
	fetch_first(contents);
	for (uint32_t i = 0; i < contents->packets; i++) {
		fetch_packet(contents, i + VIRTUAL_BOX_FETCHED);
		virtual_cross_take_packet(fabric, &contents->packet[i],
			fabric->extension != NULL ? &contents->extension[i] : NULL);
	}
	virtual_cross_end_packets(fabric);
	for (uint32_t i = 0; i < contents->controls; i++)
		virtual_cross_take_control(fabric, &contents->control[i]);
}
