/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint_private.h"
#include "wire/frame.h"

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

/* A slot for each frame that a peer may send unasked, and for the wide windows. */
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
			.limit = ENDPOINT_PIECE_FRAMES};
	for (uint32_t i = layout.receive_slots; i-- > 0;)
		endpoint->free[endpoint->frees++] = i;
	endpoint->ready = endpoint->owed = (struct pair_fifo){PAIR_NONE, PAIR_NONE};
	endpoint->wide = ENDPOINT_WIDE_PEERS;
	memcpy(memory, &layout, sizeof(layout));
	return endpoint;
}

void endpoint_destroy(struct endpoint *endpoint)
{
	if (endpoint == NULL)
		return;
	arrays_free(&endpoint->arrays);
	free(endpoint);
}

/* --- queues of pairs --- */

static uint32_t *next_of(struct endpoint *endpoint, uint32_t pair, bool owed)
{
	return owed ? &endpoint->pair[pair].owed_next : &endpoint->pair[pair].ready_next;
}

void pair_fifo_push(struct endpoint *endpoint, struct pair_fifo *fifo, uint32_t pair, bool owed)
{
	*next_of(endpoint, pair, owed) = PAIR_NONE;
	if (fifo->head == PAIR_NONE)
		fifo->head = pair;
	else
		*next_of(endpoint, fifo->tail, owed) = pair;
	fifo->tail = pair;
}

uint32_t pair_fifo_pop(struct endpoint *endpoint, struct pair_fifo *fifo, bool owed)
{
	uint32_t pair = fifo->head;

	if (pair != PAIR_NONE)
		fifo->head = *next_of(endpoint, pair, owed);
	return pair;
}

void endpoint_owe(struct endpoint *endpoint, uint32_t pair, uint8_t what)
{
	if (endpoint->pair[pair].owes == 0)
		pair_fifo_push(endpoint, &endpoint->owed, pair, true);
	endpoint->pair[pair].owes |= what;
}

static void make_ready(struct endpoint *endpoint, uint32_t index)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->ready || pair->head == SLOT_NONE)
		return;
	pair->ready = true;
	pair_fifo_push(endpoint, &endpoint->ready, index, false);
}

/* --- sending --- */

void endpoint_complete(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count)
{
	struct order *order = &endpoint->order[slot];
	struct endpoint_completion *completion =
		&endpoint->completions[endpoint->completed & (ENDPOINT_SEND_SLOTS - 1)];

	endpoint->sent -= order->state == ORDER_SENT;
	endpoint->queued -= order->state == ORDER_QUEUED;
	endpoint->held -= order->state == ORDER_HELD;
	order->state = ORDER_FREE;
	count[ENDPOINT_PIECES_FAILED] += error != 0;
	*completion = (struct endpoint_completion){.slot = slot, .error = error};
	endpoint->completed++;
	atomic_store_explicit(
		&endpoint->marks->completed, endpoint->completed, memory_order_release);
	endpoint->dirty = true;
}

static void complete_all(struct endpoint *endpoint, uint16_t *list, int error, uint64_t *count)
{
	while (*list != SLOT_NONE) {
		unsigned slot = *list;

		*list = endpoint->order[slot].next;
		endpoint_complete(endpoint, slot, error, count);
	}
}

/* A first message may be for a program that is not there. The answer of the other interface, a
 * grant or a notice, decides. */
void endpoint_end_piece(struct endpoint *endpoint, unsigned slot, int error, uint64_t *count)
{
	struct order *order = &endpoint->order[slot];
	struct pair *pair = &endpoint->pair[order->pair];

	if (error == 0 && order->generation != pair->tx_generation)
		error = -ECONNRESET;
	if (error == 0 && !pair->confirmed)
		error = pair->error;
	if (error != 0 || pair->confirmed) {
		endpoint_complete(endpoint, slot, error, count);
		return;
	}
	endpoint->sent--;
	endpoint->held++;
	order->state = ORDER_HELD;
	order->next = pair->held;
	pair->held = (uint16_t)slot;
}

void endpoint_fail_pair(
	struct endpoint *endpoint, uint32_t index, int error, bool tell, uint64_t *count)
{
	struct pair *pair = &endpoint->pair[index];

	pair->error = (int16_t)error;
	complete_all(endpoint, &pair->head, error, count);
	complete_all(endpoint, &pair->held, error, count);
	pair->tail = SLOT_NONE;
	if (tell)
		endpoint_store_gone(endpoint, index, pair->tx_life);
}

/* The pieces that follow are for another program. */
static void begin_life(struct endpoint *endpoint, uint32_t index, uint32_t life, uint64_t *count)
{
	struct pair *pair = &endpoint->pair[index];

	endpoint_fail_pair(endpoint, index, -ECONNRESET, false, count);
	pair->tx_life = life;
	pair->sent = 0;
	pair->limit = ENDPOINT_PIECE_FRAMES;
	pair->error = 0;
	pair->refused_ps = 0;
	pair->used = pair->confirmed = false;
	pair->tx_generation++;
}

/* Which life an order without one means: the present one, or the next after that has ended. */
static void choose_life(
	struct endpoint *endpoint, uint32_t index, struct order *order, uint64_t *count)
{
	struct pair *pair = &endpoint->pair[index];
	bool ended = pair->error == -ECONNRESET;
	bool other = order->life != pair->tx_life && (ended || pair->tx_life != 0);

	if (order->life == 0 ? ended : other)
		begin_life(endpoint, index, order->life, count);
	else if (pair->tx_life == 0)
		pair->tx_life = order->life;
}

static void queue_order(struct endpoint *endpoint, unsigned slot, uint64_t *count)
{
	struct order *order = &endpoint->order[slot];
	struct pair *pair = &endpoint->pair[order->pair];

	order->state = ORDER_QUEUED;
	endpoint->queued++;
	choose_life(endpoint, order->pair, order, count);
	order->generation = pair->tx_generation;
	if (pair->error != 0) {
		endpoint_complete(endpoint, slot, pair->error, count);
		return;
	}
	order->next = SLOT_NONE;
	if (pair->head == SLOT_NONE)
		pair->head = (uint16_t)slot;
	else
		endpoint->order[pair->tail].next = (uint16_t)slot;
	pair->tail = (uint16_t)slot;
	make_ready(endpoint, order->pair);
}

/* The order was copied from the program's memory. */
static void take_order(
	struct endpoint *endpoint, const struct endpoint_order *from, uint64_t *count)
{
	const struct endpoint_config *config = &endpoint->config;
	unsigned slot = from->slot;

	if (slot >= ENDPOINT_SEND_SLOTS || endpoint->order[slot].state != ORDER_FREE) {
		count[ENDPOINT_BAD_ORDERS]++;
		return;
	}
	endpoint->order[slot] =
		(struct order){.pair = (uint32_t)from->host * config->endpoints + from->endpoint,
			.life = from->life,
			.bytes = from->bytes};
	memcpy(endpoint->order[slot].head, from->head, ENDPOINT_HEAD_BYTES);
	if (from->host >= config->hosts || from->endpoint >= config->endpoints ||
		from->bytes > endpoint->piece_bytes) {
		count[ENDPOINT_BAD_ORDERS]++;
		endpoint_complete(endpoint, slot, -EINVAL, count);
		return;
	}
	queue_order(endpoint, slot, count);
}

unsigned endpoint_take_orders(struct endpoint *endpoint, uint64_t *count)
{
	uint32_t ordered = atomic_load_explicit(&endpoint->marks->ordered, memory_order_acquire);
	unsigned taken = ordered - endpoint->ordered;
	struct endpoint_order order;

	if (taken > ENDPOINT_SEND_SLOTS) {
		count[ENDPOINT_BAD_ORDERS]++;
		endpoint->ordered = ordered;
		return 0;
	}
	for (; endpoint->ordered != ordered; endpoint->ordered++) {
		memcpy(&order, &endpoint->orders[endpoint->ordered & (ENDPOINT_SEND_SLOTS - 1)],
			sizeof(order));
		take_order(endpoint, &order, count);
	}
	return taken;
}

void endpoint_take_grant(
	struct endpoint *endpoint, uint32_t index, uint32_t life, uint32_t limit, uint64_t *count)
{
	struct pair *pair = &endpoint->pair[index];

	if (pair->tx_life == 0 && pair->used)
		pair->tx_life = life;
	if (pair->tx_life != life || !pair->used || pair->error != 0)
		return;
	pair->confirmed = true;
	complete_all(endpoint, &pair->held, 0, count);
	if ((int32_t)(limit - pair->limit) <= 0 || limit - pair->sent > ENDPOINT_WINDOW)
		return;
	pair->limit = limit;
	make_ready(endpoint, index);
}

/* --- receiving --- */

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
