/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <string.h>

#include "endpoint_private.h"

/* Accepts orders from the program, and maintains the queues of its pairs. */

/* --- pair queues --- */

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

/* Holds a piece until its destination is confirmed. The first messages may be for a program that is
 * not attached; the other interface's answer, a grant or a notice, decides. */
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

/* Starts a new life: further pieces are for a different program. */
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

/* Selects the life for an order. An order without a life uses the current life, or the next one if
 * the current life has ended. */
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

/* 'from' is a copy in private memory. */
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
