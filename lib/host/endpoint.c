/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "endpoint_private.h"

/* --- memory --- */

static uint32_t round_up_power(uint32_t value)
{
	uint32_t power = 1;

	while (power < value)
		power *= 2;
	return power;
}

static uint64_t place(uint64_t *at, uint64_t bytes)
{
	uint64_t start = *at;

	*at += (bytes + 4095) & ~UINT64_C(4095);
	return start;
}

/* Returns enough slots for all frames that peers may send without a grant, plus wide windows. */
static uint32_t receive_slots(uint32_t pairs)
{
	uint32_t wide = pairs < ENDPOINT_WIDE_PEERS ? pairs : ENDPOINT_WIDE_PEERS;

	return round_up_power(pairs * ENDPOINT_PIECE_FRAMES +
			      wide * (ENDPOINT_WINDOW - ENDPOINT_PIECE_FRAMES) + 1);
}

static struct endpoint_layout lay_out(const struct endpoint_config *config)
{
	struct endpoint_layout layout = {.magic = ENDPOINT_MAGIC,
		.version = ENDPOINT_VERSION,
		.host = config->host,
		.hosts = config->hosts,
		.endpoint = config->number,
		.endpoints = config->endpoints,
		.life = config->life,
		.mtu_bytes = config->mtu_bytes,
		.piece_bytes = endpoint_piece_bytes(config->mtu_bytes),
		.send_slots = ENDPOINT_SEND_SLOTS,
		.receive_slots = receive_slots((uint32_t)config->hosts * config->endpoints),
		.receive_slot_bytes =
			(config->mtu_bytes + 2 * (uint32_t)sizeof(struct endpoint_arrival) - 1) &
			~(uint32_t)(sizeof(struct endpoint_arrival) - 1)};
	uint64_t at = 0;

	place(&at, sizeof(layout));
	layout.marks = place(&at, sizeof(struct endpoint_marks));
	layout.orders = place(&at, ENDPOINT_SEND_SLOTS * sizeof(struct endpoint_order));
	layout.completions = place(&at, ENDPOINT_SEND_SLOTS * sizeof(struct endpoint_completion));
	layout.arrivals = place(&at, layout.receive_slots * sizeof(uint32_t));
	layout.returns = place(&at, layout.receive_slots * sizeof(uint32_t));
	layout.send = place(&at, (uint64_t)ENDPOINT_SEND_SLOTS * layout.piece_bytes);
	layout.receive = place(&at, (uint64_t)layout.receive_slots * layout.receive_slot_bytes);
	layout.bytes = at;
	return layout;
}

size_t endpoint_memory_bytes(const struct endpoint_config *config)
{
	return lay_out(config).bytes;
}

static void map(struct endpoint *endpoint, const struct endpoint_layout *layout, uint8_t *memory)
{
	endpoint->marks = (void *)(memory + layout->marks);
	endpoint->orders = (void *)(memory + layout->orders);
	endpoint->completions = (void *)(memory + layout->completions);
	endpoint->arrivals = (void *)(memory + layout->arrivals);
	endpoint->returns = (void *)(memory + layout->returns);
	endpoint->send = memory + layout->send;
	endpoint->receive = memory + layout->receive;
	endpoint->receive_slot_bytes = layout->receive_slot_bytes;
	endpoint->receive_slots = layout->receive_slots;
	endpoint->piece_bytes = layout->piece_bytes;
}

struct endpoint *endpoint_create(const struct endpoint_config *config, void *memory)
{
	const struct endpoint_layout layout = lay_out(config);
	struct endpoint *endpoint = calloc(1, sizeof(*endpoint));

	if (endpoint == NULL)
		return NULL;
	endpoint->config = *config;
	endpoint->pairs = (uint32_t)config->hosts * config->endpoints;
	map(endpoint, &layout, memory);
	ARRAYS_ADD(endpoint, pair, endpoint->pairs);
	ARRAYS_ADD(endpoint, owner, layout.receive_slots);
	ARRAYS_ADD(endpoint, owner_life, layout.receive_slots);
	ARRAYS_ADD(endpoint, free, layout.receive_slots);
	if (endpoint->arrays.failed) {
		endpoint_destroy(endpoint);
		return NULL;
	}
	for (uint32_t i = 0; i < endpoint->pairs; i++)
		endpoint->pair[i] = (struct pair){.head = SLOT_NONE,
			.tail = SLOT_NONE,
			.held = SLOT_NONE,
			.window = ENDPOINT_PIECE_FRAMES,
			.limit = ENDPOINT_PIECE_FRAMES};
	for (uint32_t i = layout.receive_slots; i-- > 0;)
		endpoint->free[endpoint->frees++] = i;
	endpoint->ready = endpoint->owed = (struct pair_fifo){PAIR_NONE, PAIR_NONE};
	endpoint->promised = endpoint->pairs * ENDPOINT_PIECE_FRAMES;
	memcpy(memory, &layout, sizeof(layout));
	return endpoint;
}

void endpoint_destroy(struct endpoint *endpoint)
{
	ARRAYS_DESTROY(endpoint);
}

/* --- invariants --- */

static const char *check_orders(const struct endpoint *endpoint)
{
	unsigned queued = 0, sent = 0, held = 0, linked = 0;

	for (unsigned i = 0; i < ENDPOINT_SEND_SLOTS; i++) {
		queued += endpoint->order[i].state == ORDER_QUEUED;
		sent += endpoint->order[i].state == ORDER_SENT;
		held += endpoint->order[i].state == ORDER_HELD;
	}
	for (uint32_t i = 0; i < endpoint->pairs; i++)
		for (unsigned slot = endpoint->pair[i].head;
			slot != SLOT_NONE && linked <= ENDPOINT_SEND_SLOTS;
			slot = endpoint->order[slot].next) {
			if (endpoint->order[slot].state != ORDER_QUEUED ||
				endpoint->order[slot].pair != i)
				return "an order is in another pair's queue";
			linked++;
		}
	return queued == endpoint->queued && sent == endpoint->sent && held == endpoint->held &&
			       linked == queued
		       ? NULL
		       : "orders differ from queued + sent + held";
}

static const char *check_slots(const struct endpoint *endpoint)
{
	uint32_t held = 0, promised = 0;

	for (uint32_t i = 0; i < endpoint->receive_slots; i++)
		held += endpoint->owner[i] != 0;
	for (uint32_t i = 0; i < endpoint->frees; i++)
		if (endpoint->owner[endpoint->free[i]] != 0)
			return "a free slot has an owner";
	for (uint32_t i = 0; i < endpoint->pairs; i++) {
		uint32_t used = endpoint->pair[i].received - endpoint->pair[i].returned;

		if (used > endpoint->pair[i].window)
			return "more frames than the window allows";
		promised += endpoint->pair[i].window - used;
	}
	if (promised != endpoint->promised || promised > endpoint->frees)
		return "too few free slots for the windows";
	return held + endpoint->frees == endpoint->receive_slots ? NULL
								 : "slots differ from free + held";
}

const char *endpoint_set_check(const struct endpoint_set *set)
{
	const char *wrong = NULL;

	for (unsigned i = 0; i < set->endpoints && wrong == NULL; i++)
		if (set->at[i] != NULL) {
			wrong = check_orders(set->at[i]);
			wrong = wrong != NULL ? wrong : check_slots(set->at[i]);
		}
	return wrong;
}
