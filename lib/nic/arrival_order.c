/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arrival_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_MARKS 16u

enum mark { MARK_NONE, MARK_FRAME, MARK_LAST };

struct source {
	uint32_t next; /* the frame that all after it wait for */
	uint32_t size; /* marks; a power of two, or 0 */
	uint8_t *mark; /* enum mark of frames from 'next' on, by number & (size - 1) */
};

struct arrival_order {
	uint32_t sources;
	struct source source[];
};

struct arrival_order *arrival_order_create(uint32_t sources)
{
	struct arrival_order *order =
		calloc(1, sizeof(*order) + sources * sizeof(order->source[0]));

	if (order != NULL)
		order->sources = sources;
	return order;
}

void arrival_order_destroy(struct arrival_order *order)
{
	for (uint32_t i = 0; order != NULL && i < order->sources; i++)
		free(order->source[i].mark);
	free(order);
}

static bool make_room(struct source *source, uint32_t ahead)
{
	uint32_t size = source->size > 0 ? source->size : FIRST_MARKS;
	uint8_t *mark;

	while (size <= ahead)
		size *= 2;
	if (size == source->size)
		return true;
	mark = calloc(size, 1);
	if (mark == NULL)
		return false;
	for (uint32_t i = 0; i < source->size; i++)
		mark[(source->next + i) & (size - 1)] =
			source->mark[(source->next + i) & (source->size - 1)];
	free(source->mark);
	source->mark = mark;
	source->size = size;
	return true;
}

/* Goes on over marks that are there. Messages that ended. */
static int advance(struct source *source)
{
	int whole = 0;

	while (source->size > 0) {
		uint8_t *mark = &source->mark[source->next & (source->size - 1)];

		if (*mark == MARK_NONE)
			break;
		whole += *mark == MARK_LAST;
		*mark = MARK_NONE;
		source->next++;
	}
	return whole;
}

int arrival_order_take(struct arrival_order *order, uint32_t source, uint32_t sequence, bool last)
{
	struct source *from = &order->source[source];
	uint32_t ahead = sequence - from->next;

	if ((int32_t)ahead < 0)
		return -EEXIST;
	if (ahead == 0) {
		from->next++;
		return last + advance(from);
	}
	if (!make_room(from, ahead))
		return -ENOMEM;
	if (from->mark[sequence & (from->size - 1)] != MARK_NONE)
		return -EEXIST;
	from->mark[sequence & (from->size - 1)] = last ? MARK_LAST : MARK_FRAME;
	return 0;
}
