/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Asks for the memory of what is about to happen, so that it is in the cache by then. A large
 * fabric has far more state than the cache holds, and nothing about its events is local.
 *
 * What an event needs is found step by step, each from what the step before has fetched: the
 * packet, its entry in the table, the output that stands there. So the three buckets that follow
 * the one whose turn it is are each one step further. Hints only: what is missed, or fetched in
 * vain, changes no result.
 */

#include "virtual_devices.h"

/* Not only for speed: a function that does nothing but prefetch has no effect that the compiler
 * knows of, and a call of it is dropped. */
#define INLINE static inline __attribute__((always_inline))

#define CACHE_LINE 64

INLINE void fetch(const void *memory)
{
	__builtin_prefetch(memory, 1);
}

INLINE void fetch_host_event(const struct virtual_fabric *fabric, uint32_t number)
{
	fetch(&fabric->host[number]);
	fetch(virtual_host_channel(fabric, number));
}

/* The packet and the port. */
INLINE void first_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	unsigned port = VIRTUAL_PORT(order);
	const struct switch_port *here;

	if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE)
		fetch(&fabric->pool.packet[item]);
	if (at >= fabric->switches) {
		if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE)
			fetch(&fabric->pool.packet[item].origin);
		fetch_host_event(fabric, at - fabric->switches);
		return;
	}
	here = &fabric->sw[at]->port[port];
	if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE) {
		fetch(&here->link.rx);
		fetch(&here->count);
		return;
	}
	fetch(virtual_switch_channel(fabric, at, port));
	fetch(&here->link.tx);
	fetch(&here->output);
	fetch(&here->count);
}

/* What the packet says: its entry in the table; what the output says: who is next there. */
INLINE void second_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	unsigned port = VIRTUAL_PORT(order);
	const struct weft_packet *packet = &fabric->pool.packet[item].packet;
	const struct weft_switch *sw;

	if (at >= fabric->switches) {
		if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE)
			fetch(&fabric->host[at - fabric->switches].nic.expected[packet->source]);
		return;
	}
	sw = fabric->sw[at];
	if (VIRTUAL_KIND(order) != VIRTUAL_ARRIVE) {
		const struct switch_output *out = &sw->port[port].output;

		if (out->ready != 0)
			fetch(switch_cross(
				sw, port, bits_round_robin(out->ready, out->next_input)));
		return;
	}
	if (packet->route_length != 0)
		fetch(&packet->route[packet->cursor]);
	else if (packet->destination < sw->table_hosts)
		fetch(&sw->table_port[packet->destination]);
}

/* Where the packet goes: the output, and the queue in which it may have to wait. */
INLINE void third_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	const struct weft_packet *packet = &fabric->pool.packet[item].packet;
	unsigned input = VIRTUAL_PORT(order), output;
	const struct weft_switch *sw;

	if (at >= fabric->switches || VIRTUAL_KIND(order) != VIRTUAL_ARRIVE)
		return;
	sw = fabric->sw[at];
	if (packet->route_length != 0)
		output = packet->route[packet->cursor] & ROUTE_PORT_MASK;
	else
		output = packet->destination < sw->table_hosts ? sw->table_port[packet->destination]
							       : SWITCH_PORT_NONE;
	if (output >= sw->ports)
		return;
	fetch(virtual_switch_channel(fabric, at, output));
	fetch(&sw->port[output].link.tx);
	fetch(&sw->port[output].output);
	fetch(&sw->port[output].count);
	fetch(switch_cross(sw, output, input));
}

typedef void step_fn(const struct virtual_fabric *fabric, uint32_t order, uint32_t item);

INLINE void each(const struct virtual_fabric *fabric, const struct event_bucket *bucket,
	unsigned count, step_fn *step)
{
	for (unsigned i = 0; i < count; i++)
		step(fabric, (uint32_t)bucket->key[i], bucket->item[i]);
}

void virtual_look_ahead(const struct virtual_fabric *fabric)
{
	const struct event_bucket *bucket = NULL;
	uint64_t number = fabric->events->current;
	unsigned count;

	count = event_queue_following(fabric->events, &number, &bucket);
	if (count == 0)
		return;
	each(fabric, bucket, count, third_step);
	count = event_queue_following(fabric->events, &number, &bucket);
	each(fabric, bucket, count, second_step);
	count = event_queue_following(fabric->events, &number, &bucket);
	each(fabric, bucket, count, first_step);
}
