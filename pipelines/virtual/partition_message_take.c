/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Turns elements from other partitions into events at the receiving devices. */

#include "partition_message.h"
#include "virtual_control.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_send.h"

/* Adds arrivals at switches to this partition's own lane, so that they are prefetched. */
static void take_data(struct virtual_fabric *fabric, struct sim_event event)
{
	if (virtual_is_host(fabric, event.order))
		event_queue_push(fabric->events, event);
	else
		event_queue_gather(fabric->events, event);
}

void partition_message_take_packet(struct virtual_fabric *fabric,
	const struct partition_crossing_packet *crossing, const struct latency_extension *extension)
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
	case VIRTUAL_CROSSING_LOST:
		event_queue_push(fabric->events,
			(struct sim_event){crossing->at, crossing->order | VIRTUAL_WAKE,
				virtual_item_of(fabric, packet) + VIRTUAL_LOST_ITEM});
		return;
	case VIRTUAL_CROSSING_REPORT:
		virtual_recovery_take(fabric, packet, crossing->at);
		return;
	case VIRTUAL_CROSSING_LOSS:
		virtual_host_lose_at(fabric, packet, crossing->at);
		return;
	}
}

void partition_message_end_packets(struct virtual_fabric *fabric)
{
	event_queue_merge_lane(fabric->events, VIRTUAL_LANE_SWITCH);
}

void partition_message_take_control(
	struct virtual_fabric *fabric, const struct partition_crossing_control *crossing)
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

static inline void fetch_packet(const struct partition_mailbox_contents *contents, uint32_t i)
{
	if (i >= contents->packets)
		return;
	__builtin_prefetch(&contents->packet[i]);
	__builtin_prefetch(&contents->packet[i].origin);
}

/* A different core wrote these lines. Fetching all of them takes little longer than fetching one,
 * as long as the core can have several misses outstanding. */
static void fetch_first(const struct partition_mailbox_contents *contents)
{
	for (uint32_t i = 0; i < VIRTUAL_BOX_FETCHED; i++)
		fetch_packet(contents, i);
	for (uint32_t i = 0; i < contents->controls && i < VIRTUAL_BOX_FETCHED; i++)
		__builtin_prefetch(&contents->control[i]);
}

void partition_message_take(
	struct virtual_fabric *fabric, const struct partition_mailbox_contents *contents)
{
	fetch_first(contents);
	for (uint32_t i = 0; i < contents->packets; i++) {
		fetch_packet(contents, i + VIRTUAL_BOX_FETCHED);
		partition_message_take_packet(fabric, &contents->packet[i],
			fabric->extension != NULL ? &contents->extension[i] : NULL);
	}
	partition_message_end_packets(fabric);
	for (uint32_t i = 0; i < contents->controls; i++)
		partition_message_take_control(fabric, &contents->control[i]);
}
