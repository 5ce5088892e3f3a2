/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "capture_reader.h"

#include <stdlib.h>

#include "base/arrays.h"

struct source {
	struct capture_reader *reader;
	uint64_t frontier_ns; /* no earlier packet follows; UINT64_MAX: end of the capture */
	uint64_t newest_ns;
};

struct entry {
	struct capture_ordered packet;
	uint64_t turn; /* position in reading order */
};

struct capture_order {
	struct source *source;
	uint32_t sources;
	bool arrivals_first;
	struct entry *heap;
	uint32_t used, room;
	uint64_t turns;
};

static bool is_before(
	const struct capture_order *order, const struct entry *a, const struct entry *b)
{
	const struct capture_packet *one = &a->packet.packet, *other = &b->packet.packet;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns;
	if (order->arrivals_first && one->direction != other->direction)
		return one->direction < other->direction;
	return a->turn < b->turn;
}

static void swap(struct capture_order *order, uint32_t a, uint32_t b)
{
	struct entry kept = order->heap[a];

	order->heap[a] = order->heap[b];
	order->heap[b] = kept;
}

static int push(struct capture_order *order, const struct capture_ordered *packet)
{
	uint32_t at = order->used;

	if (!array_reserve(&order->heap, &order->room, order->used + 1u, sizeof(*order->heap)))
		return -ENOMEM;
	order->heap[order->used++] = (struct entry){*packet, order->turns++};
	while (at > 0 && is_before(order, &order->heap[at], &order->heap[(at - 1) / 2])) {
		swap(order, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
	return 0;
}

static void pop(struct capture_order *order)
{
	uint32_t at = 0;

	order->heap[0] = order->heap[--order->used];
	for (;;) {
		uint32_t first = at;

		for (uint32_t below = 2 * at + 1; below <= 2 * at + 2; below++)
			if (below < order->used &&
				is_before(order, &order->heap[below], &order->heap[first]))
				first = below;
		if (first == at)
			return;
		swap(order, at, first);
		at = first;
	}
}

/* Returns the source that may have the earliest packet. */
static struct source *earliest(struct capture_order *order)
{
	struct source *found = &order->source[0];

	for (uint32_t i = 1; i < order->sources; i++)
		if (order->source[i].frontier_ns < found->frontier_ns)
			found = &order->source[i];
	return found;
}

static int read_one(struct capture_order *order, struct source *source)
{
	struct capture_ordered next = {.file = (uint32_t)(source - order->source)};

	if (!capture_reader_next(source->reader, &next.packet)) {
		source->frontier_ns = UINT64_MAX;
		return 0;
	}
	if (next.packet.time_ns > source->newest_ns)
		source->newest_ns = next.packet.time_ns;
	source->frontier_ns = source->newest_ns - source->reader->disorder_ns;
	return push(order, &next);
}

struct capture_order *capture_order_create(
	struct capture_reader *reader, uint32_t readers, bool arrivals_first)
{
	struct capture_order *order = calloc(1, sizeof(*order));

	if (order == NULL)
		return NULL;
	order->source = calloc(readers + 1u, sizeof(*order->source));
	order->sources = readers;
	order->arrivals_first = arrivals_first;
	for (uint32_t i = 0; order->source != NULL && i < readers; i++)
		order->source[i] =
			(struct source){.reader = &reader[i], .newest_ns = reader[i].disorder_ns};
	if (order->source == NULL) {
		free(order);
		return NULL;
	}
	return order;
}

void capture_order_destroy(struct capture_order *order)
{
	if (order == NULL)
		return;
	free(order->heap);
	free(order->source);
	free(order);
}

int capture_order_next(struct capture_order *order, struct capture_ordered *next)
{
	for (;;) {
		struct source *source = earliest(order);
		int result;

		/* Without arrivals_first, packets with equal times stay in reading order. */
		if (order->used > 0 &&
			(source->frontier_ns > order->heap[0].packet.packet.time_ns ||
				(source->frontier_ns == order->heap[0].packet.packet.time_ns &&
					!order->arrivals_first))) {
			*next = order->heap[0].packet;
			pop(order);
			return 1;
		}
		if (source->frontier_ns == UINT64_MAX) {
			if (order->used == 0)
				return 0;
			*next = order->heap[0].packet;
			pop(order);
			return 1;
		}
		result = read_one(order, source);
		if (result < 0)
			return result;
	}
}
