/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "endpoint_private.h"

/* Receive slots: stores arriving frames, and frees the slots that the program returns. */

static void publish(struct endpoint *endpoint, uint32_t slot)
{
	endpoint->arrivals[endpoint->arrived & (endpoint->receive_slots - 1)] = slot;
	endpoint->arrived++;
	atomic_store_explicit(&endpoint->marks->arrived, endpoint->arrived, memory_order_release);
	endpoint->dirty = true;
}

static struct endpoint_arrival *slot_at(struct endpoint *endpoint, uint32_t slot)
{
	return (void *)(endpoint->receive + (size_t)slot * endpoint->receive_slot_bytes);
}

/* Starts a window for a new program at the other end. Slots that the previous program used are not
 * counted when they are returned. Returns false if too few slots are free for the initial window,
 * because this endpoint's program has not returned enough. */
static bool begin_receiving(struct endpoint *endpoint, struct pair *pair, uint32_t life)
{
	uint32_t spare = endpoint->frees - endpoint->promised;
	uint32_t former = pair->window - (pair->received - pair->returned);

	if (spare + former < ENDPOINT_PIECE_FRAMES)
		return false;
	pair->window = spare + former < ENDPOINT_WINDOW ? ENDPOINT_PIECE_FRAMES : ENDPOINT_WINDOW;
	endpoint->promised += pair->window - former;
	pair->rx_life = life;
	pair->received = pair->returned = 0;
	pair->granted = ENDPOINT_PIECE_FRAMES;
	pair->cut = pair->partial = false;
	endpoint_owe(endpoint, (uint32_t)(pair - endpoint->pair), OWES_CREDIT);
	return true;
}

bool endpoint_receive_from(struct endpoint *endpoint, uint32_t index, uint32_t life)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->partial)
		endpoint_store_gone(endpoint, index, pair->rx_life);
	return pair->rx_life == life ? !pair->cut : begin_receiving(endpoint, pair, life);
}

bool endpoint_store(struct endpoint *endpoint, uint32_t index, const struct nic_delivery *delivery)
{
	struct pair *pair = &endpoint->pair[index];
	uint32_t front = delivery->first ? ENDPOINT_WIRE_BYTES : 0, slot;
	uint32_t bytes = delivery->bytes - front;
	struct endpoint_arrival *arrival;

	if (pair->received - pair->returned >= pair->window ||
		delivery->bytes > endpoint->config.mtu_bytes) {
		pair->cut = true;
		return false;
	}
	slot = endpoint->free[--endpoint->frees];
	endpoint->owner[slot] = index + 1;
	endpoint->owner_life[slot] = pair->rx_life;
	pair->received++;
	endpoint->promised--;
	pair->partial = !delivery->tail;
	arrival = slot_at(endpoint, slot);
	*arrival = (struct endpoint_arrival){.host = (uint16_t)(index / endpoint->config.endpoints),
		.endpoint = (uint16_t)(index % endpoint->config.endpoints),
		.life = pair->rx_life,
		.kind = ENDPOINT_ARRIVAL_DATA,
		.first = delivery->first,
		.tail = delivery->tail,
		.bytes = bytes,
		.offset = delivery->first ? 0 : delivery->offset - ENDPOINT_WIRE_BYTES};
	if (delivery->first)
		memcpy(arrival->head, delivery->payload + ENDPOINT_WIRE_BYTES - ENDPOINT_HEAD_BYTES,
			ENDPOINT_HEAD_BYTES);
	/* Do not use arrival->bytes, which the program may have changed. */
	memcpy(arrival + 1, delivery->payload + front, bytes);
	publish(endpoint, slot);
	return true;
}

/* A notice uses a slot outside all windows. If none is free, the notice waits for one. */
void endpoint_store_gone(struct endpoint *endpoint, uint32_t index, uint32_t life)
{
	struct pair *pair = &endpoint->pair[index];
	uint32_t slot;

	pair->partial = false;
	if (endpoint->frees == endpoint->promised) {
		/* A single notice for two programs covers all programs. */
		pair->gone_life = pair->gone_waits && pair->gone_life != life ? 0 : life;
		endpoint->gone_waiting += !pair->gone_waits;
		pair->gone_waits = true;
		return;
	}
	slot = endpoint->free[--endpoint->frees];
	endpoint->owner[slot] = index + 1;
	endpoint->owner_life[slot] = 0;
	*slot_at(endpoint, slot) =
		(struct endpoint_arrival){.host = (uint16_t)(index / endpoint->config.endpoints),
			.endpoint = (uint16_t)(index % endpoint->config.endpoints),
			.life = life,
			.kind = ENDPOINT_ARRIVAL_GONE};
	publish(endpoint, slot);
}

uint32_t endpoint_grant(struct endpoint *endpoint, uint32_t index)
{
	struct pair *pair = &endpoint->pair[index];

	pair->granted = pair->returned + pair->window;
	return pair->granted;
}

static void store_waiting(struct endpoint *endpoint)
{
	for (uint32_t i = 0; endpoint->gone_waiting > 0 && endpoint->frees > endpoint->promised;
		i++) {
		struct pair *pair = &endpoint->pair[i];

		endpoint->gone_waiting -= pair->gone_waits;
		if (pair->gone_waits) {
			pair->gone_waits = false;
			endpoint_store_gone(endpoint, i, pair->gone_life);
		}
	}
}

/* Counts a returned slot. A credit message is sent for each quarter of the window. */
static void count_return(struct endpoint *endpoint, uint32_t index, uint32_t life)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->rx_life != life || life == 0)
		return;
	pair->returned++;
	endpoint->promised++;
	if (pair->returned + pair->window - pair->granted >= pair->window / 4u)
		endpoint_owe(endpoint, index, OWES_CREDIT);
}

unsigned endpoint_take_returns(struct endpoint *endpoint, uint64_t *count)
{
	uint32_t returned = atomic_load_explicit(&endpoint->marks->returned, memory_order_acquire);
	unsigned taken = returned - endpoint->returned;

	if (taken > endpoint->receive_slots) {
		count[ENDPOINT_BAD_ORDERS]++;
		endpoint->returned = returned;
		return 0;
	}
	for (; endpoint->returned != returned; endpoint->returned++) {
		const volatile uint32_t *at =
			&endpoint->returns[endpoint->returned & (endpoint->receive_slots - 1)];
		uint32_t slot = *at;

		if (slot >= endpoint->receive_slots || endpoint->owner[slot] == 0) {
			count[ENDPOINT_BAD_ORDERS]++;
			continue;
		}
		count_return(endpoint, endpoint->owner[slot] - 1, endpoint->owner_life[slot]);
		endpoint->owner[slot] = 0;
		endpoint->free[endpoint->frees++] = slot;
	}
	store_waiting(endpoint);
	return taken;
}
