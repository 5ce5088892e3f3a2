/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <string.h>

#include "endpoint_private.h"

/* Receive slots: frames that arrive, and slots that the program returns. */

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

/* A new program at the other end: slots of the former one come back without being counted. */
static void begin_receiving(struct endpoint *endpoint, struct pair *pair, uint32_t life)
{
	endpoint->wide += pair->window == ENDPOINT_WINDOW;
	pair->rx_life = life;
	pair->generation++;
	pair->received = pair->returned = 0;
	pair->granted = pair->window = ENDPOINT_PIECE_FRAMES;
	pair->cut = pair->partial = false;
	if (endpoint->wide > 0) {
		endpoint->wide--;
		pair->window = ENDPOINT_WINDOW;
	}
}

bool endpoint_receive_from(struct endpoint *endpoint, uint32_t index, uint32_t life)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->partial)
		endpoint_store_gone(endpoint, index, pair->rx_life);
	if (pair->rx_life != life) {
		begin_receiving(endpoint, pair, life);
		endpoint_owe(endpoint, index, OWES_CREDIT);
	}
	return !pair->cut;
}

bool endpoint_store(struct endpoint *endpoint, uint32_t index, const struct nic_delivery *delivery)
{
	struct pair *pair = &endpoint->pair[index];
	uint32_t front = delivery->first ? ENDPOINT_WIRE_BYTES : 0, slot;
	uint32_t bytes = delivery->bytes - front;
	struct endpoint_arrival *arrival;

	if (pair->received - pair->returned >= pair->window || endpoint->frees == 0 ||
		delivery->bytes > endpoint->config.mtu_bytes) {
		pair->cut = true;
		return false;
	}
	slot = endpoint->free[--endpoint->frees];
	endpoint->owner[slot] = index + 1;
	endpoint->owner_life[slot] = pair->generation;
	pair->received++;
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
	/* Not arrival->bytes: the program may have changed it. */
	memcpy(arrival + 1, delivery->payload + front, bytes);
	publish(endpoint, slot);
	return true;
}

/* Its slot belongs to no pair's window, so there may be none: a program that keeps all slots is not
 * told. */
void endpoint_store_gone(struct endpoint *endpoint, uint32_t index, uint32_t life)
{
	uint32_t slot;

	endpoint->pair[index].partial = false;
	if (endpoint->frees == 0)
		return;
	slot = endpoint->free[--endpoint->frees];
	endpoint->owner[slot] = index + 1;
	endpoint->owner_life[slot] = (uint8_t)(endpoint->pair[index].generation - 1);
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

/* A frame that is worth a credit message has come back: a quarter of the window. */
static void count_return(struct endpoint *endpoint, uint32_t index, uint8_t generation)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->generation != generation)
		return;
	pair->returned++;
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
	return taken;
}
