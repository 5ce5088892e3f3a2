/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Used by switches and hosts of a virtual fabric for each packet: its memory, and the channel that
 * sends it. For virtual_*.c. */

#include "partition_message.h"
#include "virtual_private.h"

static inline struct weft_packet *virtual_take_packet(struct virtual_fabric *fabric)
{
	struct virtual_pool *pool = &fabric->pool;
	struct weft_packet *packet = pool->returned;

	if (__builtin_expect(packet != NULL, 1)) {
		pool->returned = packet->next;
	} else if (pool->used < pool->size) {
		packet = &pool->packet[pool->used++];
	} else if ((packet = partition_message_reclaim(fabric)) == NULL) {
		fabric->failed = true;
		return NULL;
	}
	pool->out++;
	return packet;
}

/* Frees a packet that is no longer counted as in use. */
static inline void virtual_return_packet(struct virtual_fabric *fabric, struct weft_packet *packet)
{
	packet->next = fabric->pool.returned;
	fabric->pool.returned = packet;
}

static inline void virtual_give_packet(struct virtual_fabric *fabric, struct weft_packet *packet)
{
	virtual_return_packet(fabric, packet);
	fabric->pool.out--;
}

/* For fabrics where frames can overtake each other: returns true if no packet memory is left, so
 * that no host may send new frames. */
static inline bool virtual_order_is_full(const struct virtual_fabric *fabric)
{
	return fabric->pool.out + fabric->hosts >= fabric->pool.size;
}

/* Clears the flows recorded by a packet, before it is reused. */
static inline void virtual_forget_flows(
	struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	if (fabric->extension == NULL)
		return;
	fabric->extension[virtual_item_of(fabric, packet)].flags = 0;
	fabric->extension[virtual_item_of(fabric, packet)].flows = 0;
}

/* Returns true until the tail has left. This is the time of the event DONE in event order, whether
 * or not it is armed. No transmission ends at time 0. */
static inline bool virtual_is_sending(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel, weft_time now)
{
	if (__builtin_expect(channel->free_at == now, 0))
		return now != 0 && channel->done > fabric->order;
	return channel->free_at > now;
}

/* Arms the event for the end of the channel's current transmission. */
static inline void virtual_arm(struct virtual_fabric *fabric, struct virtual_tx *channel)
{
	if (channel->armed)
		return;
	channel->armed = true;
	event_queue_push(fabric->events, (struct sim_event){channel->free_at, channel->done, 0});
}

/* Like virtual_arm(), for a switch's channel that has just started to send. */
static inline void virtual_arm_begun(struct virtual_fabric *fabric, struct virtual_tx *channel)
{
	channel->armed = true;
	event_queue_push_lane(fabric->events, VIRTUAL_LANE_END,
		(struct sim_event){channel->free_at, channel->done, 0});
}

static inline void virtual_note_blocked(struct virtual_tx *channel, weft_time now)
{
	if (channel->blocked_since == WEFT_TIME_NEVER)
		channel->blocked_since = now;
}

static inline void virtual_note_unblocked(
	struct virtual_fabric *fabric, struct virtual_tx *channel, weft_time now)
{
	if (__builtin_expect(channel->blocked_since == WEFT_TIME_NEVER, 1))
		return;
	virtual_tx_cold(fabric, channel)->blocked_ps += now - channel->blocked_since;
	channel->blocked_since = WEFT_TIME_NEVER;
}

/* Prefetches the fields of a link end that a credit frame needs besides the totals. */
static inline void virtual_fetch_link(const struct link_end *end)
{
	__builtin_prefetch(&end->config, 1);
	__builtin_prefetch(&end->credit_due, 1);
}

/* Returns true if a credit frame is due for the blocks not yet granted to the sender. */
static inline bool virtual_credit_due(
	const struct virtual_fabric *fabric, const struct credit_rx *rx)
{
	return credit_grant_due(rx) || (fabric->credit_each && credit_ungranted(rx) > 0);
}

/* Returns credits for a packet that left through 'output' and whose blocks are free at 'at'. The
 * arrival of the credit frame is scheduled immediately, so neither an event at the end of the
 * transmission nor a record of totals is needed. */
static inline void virtual_send_freed(struct virtual_fabric *fabric, struct credit_rx *rx,
	const struct virtual_tx *back, unsigned output, unsigned vc, unsigned blocks, weft_time at)
{
	rx->granted += blocks;
	event_queue_push(fabric->events,
		(struct sim_event){at + virtual_delay_of(fabric, back), back->credit,
			virtual_credit_item(fabric, output, vc, blocks)});
}

/* Starts to send a packet on the channel, which must not be sending. */
static inline void virtual_start(struct virtual_fabric *fabric, struct virtual_tx *channel,
	struct weft_packet *packet, weft_time now)
{
	weft_time takes =
		(packet->bytes + FRAME_WIRE_OVERHEAD) * (channel->byte_time >> BYTE_TIME_SHIFT);
	weft_time at = now + (channel->waits ? takes : 0) + channel->arrive_ps;

	channel->free_at = now + takes;
	channel->armed = false;
	channel->busy_ps += takes;
	virtual_note_unblocked(fabric, channel, now);
	if (__builtin_expect(channel->special, 0)) {
		virtual_start_special(fabric, channel, packet, at, now);
		return;
	}
	event_queue_push_lane(fabric->events, channel->lane,
		(struct sim_event){at, channel->arrive, virtual_item_of(fabric, packet)});
}
