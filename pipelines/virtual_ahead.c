/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Asks for the memory of what is about to happen, so that it is in the cache by then. A large
 * fabric, or one whose buffers are full, has far more state than the cache holds, and nothing about
 * its events is local.
 *
 * What an event needs is found step by step, each from what the step before has fetched: the
 * packet, its entry in the table, the output that stands there. So the three buckets that follow
 * the one whose turn it is are each one step further. Hints only: what is missed, or fetched in
 * vain, changes no result; and fetching in vain is cheaper than a branch that is guessed wrongly.
 */

#include "virtual_devices.h"

/* Not only for speed: a function that does nothing but prefetch has no effect that the compiler
 * knows of, and a call of it is dropped. */
#define INLINE static inline __attribute__((always_inline))

INLINE void fetch(const void *memory)
{
	__builtin_prefetch(memory, 1);
}

/*
 * Hosts: what arrives needs the packet's origin and what is known of its sender; a message needs
 * the source that it comes from, the channel and the number of its first frame.
 */
INLINE void first_step_host(
	const struct virtual_fabric *fabric, uint32_t number, uint32_t order, uint32_t item)
{
	const struct virtual_host *host = &fabric->host[number];

	fetch(&host->nic.come);
	if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE) {
		fetch(&fabric->pool.origin[item]);
		fetch(&host->nic.link.rx);
		return;
	}
	fetch(host);
	fetch(&host->nic.stream);
	fetch(&host->nic.frames_sent);
	fetch(virtual_host_channel(fabric, number));
}

INLINE void second_step_host(
	const struct virtual_fabric *fabric, uint32_t number, uint32_t order, uint32_t item)
{
	const struct virtual_host *host = &fabric->host[number];

	if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE) {
		fetch(&host->nic.come[(size_t)fabric->pool.packet[item].source *
				      host->nic.come_step]);
		return;
	}
	fetch(&host->nic.sent[host->next_destination]);
	if (host->stream != NULL)
		traffic_fetch(host->stream);
	else
		fetch(host->source);
}

INLINE void third_step_host(const struct virtual_fabric *fabric, uint32_t number, uint32_t order)
{
	const struct virtual_host *host = &fabric->host[number];

	if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE || host->stream != NULL)
		return;
	if (host->sources > 0)
		traffic_fetch(host->source[0]);
	fetch(&host->nic.fifo[0].message[host->nic.fifo[0].head]);
}

/* The packet and the port. */
INLINE void first_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	const struct switch_port *port;

	fetch(&fabric->pool.packet[item]);
	if (at >= fabric->switches) {
		first_step_host(fabric, at - fabric->switches, order, item);
		return;
	}
	port = &fabric->sw[at]->port[VIRTUAL_PORT(order)];
	fetch(port);
	fetch(VIRTUAL_KIND(order) == VIRTUAL_ARRIVE ? (const void *)&port->link.rx
						    : (const void *)&port->link.tx);
}

/* The input whose turn it is at an output that will be free; some input if there is none. */
INLINE unsigned turn(const struct switch_output *out)
{
	return out->ready != 0 ? bits_round_robin(out->ready, out->next_input) : 0;
}

INLINE void fetch_queue(const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs > 1)
		fetch(switch_cross(sw, output, input));
	fetch(switch_queues(sw, output, input));
}

/* What the packet says: its entry in the table. What the output says: who is next there. */
INLINE void second_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	const struct weft_packet *packet = &fabric->pool.packet[item];
	bool arrives = VIRTUAL_KIND(order) == VIRTUAL_ARRIVE;
	unsigned port = VIRTUAL_PORT(order);
	uint32_t at = VIRTUAL_DEVICE(order);

	if (at >= fabric->switches) {
		second_step_host(fabric, at - fabric->switches, order, item);
	} else if (arrives) {
		fetch(packet->route_length != 0 ? &packet->route[packet->cursor]
						: &fabric->sw[at]->table_port[packet->destination]);
	} else {
		fetch(virtual_switch_channel(fabric, at, port));
		fetch_queue(fabric->sw[at], port, turn(&fabric->sw[at]->port[port].output));
	}
}

/* Where the packet goes: the output, and the queue in which it may have to wait. */
INLINE void fetch_way(const struct virtual_fabric *fabric, uint32_t at, unsigned input,
	const struct weft_packet *packet)
{
	const struct weft_switch *sw = fabric->sw[at];
	unsigned output = SWITCH_PORT_NONE;

	if (packet->route_length != 0)
		output = packet->route[packet->cursor] & ROUTE_PORT_MASK;
	else if (packet->destination < sw->table_hosts)
		output = sw->table_port[packet->destination];
	if (output >= sw->ports)
		return;
	fetch(virtual_switch_channel(fabric, at, output));
	fetch(&sw->port[output]);
	fetch(&sw->port[output].link.tx);
	fetch_queue(sw, output, input);
}

/* The packet that is next at the output, the buffer that it leaves, and the one that the packet
 * before it has left. */
INLINE void fetch_next(const struct virtual_fabric *fabric, uint32_t at, unsigned output)
{
	const struct weft_switch *sw = fabric->sw[at];
	unsigned input = turn(&sw->port[output].output);
	unsigned before = virtual_switch_channel(fabric, at, output)->in_port;

	fetch(switch_queues(sw, output, input)->head);
	fetch(&sw->port[input].link.rx);
	fetch(&sw->port[before].link.rx);
}

INLINE void third_step(const struct virtual_fabric *fabric, uint32_t order, uint32_t item)
{
	unsigned port = VIRTUAL_PORT(order);
	uint32_t at = VIRTUAL_DEVICE(order);

	if (at >= fabric->switches)
		third_step_host(fabric, at - fabric->switches, order);
	else if (VIRTUAL_KIND(order) == VIRTUAL_ARRIVE)
		fetch_way(fabric, at, port, &fabric->pool.packet[item]);
	else
		fetch_next(fabric, at, port);
}

typedef void step_fn(const struct virtual_fabric *fabric, uint32_t order, uint32_t item);

INLINE void each(const struct virtual_fabric *fabric, const struct event_bucket *bucket,
	unsigned count, step_fn *step)
{
	const struct event_queue *events = fabric->events;

	for (unsigned i = 0; i < count; i++)
		step(fabric, event_key_order(events, bucket->key[i]),
			event_key_item(events, bucket->key[i]));
}

void virtual_look_ahead(const struct virtual_fabric *fabric)
{
	const struct event_bucket *bucket = NULL;
	uint64_t number = fabric->events->current;
	unsigned count;

	count = event_queue_following(fabric->events, &number, &bucket);
	each(fabric, bucket, count, third_step);
	count = event_queue_following(fabric->events, &number, &bucket);
	each(fabric, bucket, count, second_step);
	count = event_queue_following(fabric->events, &number, &bucket);
	each(fabric, bucket, count, first_step);
}
