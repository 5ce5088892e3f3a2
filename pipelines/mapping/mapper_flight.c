/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "mapper_flight.h"

#include <stdlib.h>

#include "base/arrays.h"

static bool is_before(const struct mapper_flight *a, const struct mapper_flight *b)
{
	return a->at != b->at ? a->at < b->at : a->number < b->number;
}

void mapper_flight_push(struct mapper_network *network, weft_time when, struct topology_port port,
	bool leaving, uint8_t *data, unsigned bytes)
{
	const struct mapper_flight flight = {.at = when,
		.number = network->frames + network->hops,
		.port = port,
		.leaving = leaving,
		.bytes = bytes,
		.data = data};
	uint32_t at = network->flights;

	if (!array_reserve(&network->flight, &network->room, at + 1u, sizeof(flight))) {
		free(data);
		network->failed = true;
		return;
	}
	for (; at > 0 && is_before(&flight, &network->flight[(at - 1) / 2]); at = (at - 1) / 2)
		network->flight[at] = network->flight[(at - 1) / 2];
	network->flight[at] = flight;
	network->flights++;
}

struct mapper_flight mapper_flight_pop(struct mapper_network *network)
{
	struct mapper_flight *heap = network->flight, first = heap[0];
	const struct mapper_flight last = heap[--network->flights];
	uint32_t at = 0;

	for (uint32_t next = 1; next < network->flights; next = 2 * at + 1) {
		next += next + 1 < network->flights && is_before(&heap[next + 1], &heap[next]);
		if (is_before(&last, &heap[next]))
			break;
		heap[at] = heap[next];
		at = next;
	}
	heap[at] = last;
	return first;
}

weft_time mapper_flight_due(const struct mapper_network *network)
{
	return network->flights > 0 ? network->flight[0].at : WEFT_TIME_NEVER;
}
