/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Asks for the memory of what is about to happen, so that it is in the cache by then. A large
 * fabric, or one whose buffers are full, has far more state than the cache holds, and nothing about
 * its events is local.
 *
 * What an event needs is found step by step, each from what the step before has fetched: the
 * packet, its entry in the table, the output that stands there. So the three buckets that follow
 * the one whose turn it is are each one step further. Before the first step a bucket's events are
 * told apart by what they need, without branches: a branch that is guessed wrongly costs more than
 * all that is fetched for an event. Hints only: what is missed, or fetched in vain, changes no
 * result.
 */

#include <string.h>

#include "virtual_devices.h"

/* Not only for speed: a function that does nothing but prefetch has no effect that the compiler
 * knows of, and a call of it is dropped. */
#define INLINE static inline __attribute__((always_inline))

INLINE void fetch(const void *memory)
{
	__builtin_prefetch(memory, 1);
}

/* What happens there: VIRTUAL_AHEAD_KINDS. */
enum { ARRIVE, LEAVE, HOST_ARRIVE, HOST_SEND };

static struct virtual_ahead_list *list_at(struct virtual_ahead *ahead, unsigned distance)
{
	return &ahead->list[(ahead->first + distance) % VIRTUAL_AHEAD_LISTS];
}

/* The events of the next bucket after all that are known; false: there are none. */
static bool sort_next(struct virtual_fabric *fabric)
{
	struct virtual_ahead *ahead = &fabric->ahead;
	const struct event_queue *events = fabric->events;
	struct virtual_ahead_list *list = list_at(ahead, ahead->count);
	const struct event_bucket *bucket = NULL;
	uint64_t number = events->current;
	unsigned count;

	if (ahead->count > 0)
		number = list_at(ahead, ahead->count - 1)->number;
	count = event_queue_following(events, &number, &bucket);
	if (count == 0)
		return false;
	list->number = number;
	memset(list->count, 0, sizeof(list->count));
	for (unsigned i = 0; i < count; i++) {
		uint32_t order = event_key_order(events, bucket->key[i]);
		unsigned kind = (VIRTUAL_DEVICE(order) >= fabric->switches ? HOST_ARRIVE : ARRIVE) +
				(VIRTUAL_KIND(order) != VIRTUAL_ARRIVE);

		list->event[kind][list->count[kind]++] =
			(struct virtual_ahead_event){order, event_key_item(events, bucket->key[i])};
	}
	ahead->count++;
	return true;
}

/* Forgets the buckets whose turn has come. */
static void drop_past(struct virtual_ahead *ahead, uint64_t current)
{
	while (ahead->count > 0 && ahead->list[ahead->first].number <= current) {
		ahead->first = (ahead->first + 1) % VIRTUAL_AHEAD_LISTS;
		ahead->count--;
	}
}

#define EACH(event, list, kind)                                                   \
	for (const struct virtual_ahead_event *event = (list)->event[kind],       \
					      *end = event + (list)->count[kind]; \
		event < end; event++)

/*
 * Hosts: what arrives needs the packet's origin and what is known of its sender; a message needs
 * the source that it comes from, the channel and the number of its first frame.
 */
INLINE uint32_t number_of(const struct virtual_fabric *fabric, uint32_t order)
{
	return VIRTUAL_DEVICE(order) - fabric->switches;
}

INLINE void first_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, HOST_ARRIVE)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, event->order)];

		fetch(&fabric->pool.packet[event->item]);
		fetch(&fabric->pool.origin[event->item]);
		fetch(&host->nic.come);
		fetch(&host->nic.link.rx);
	}
	EACH(event, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, event->order)];

		fetch(host);
		fetch(&host->nic.come);
		fetch(&host->nic.stream);
		fetch(&host->nic.frames_sent);
		fetch(virtual_host_channel(fabric, number_of(fabric, event->order)));
	}
}

INLINE void second_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, HOST_ARRIVE)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, event->order)];
		const struct weft_packet *packet = &fabric->pool.packet[event->item];

		fetch(&host->nic.come[(size_t)packet->source * host->nic.come_step]);
	}
	EACH(event, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, event->order)];

		fetch(&host->nic.sent[host->next_destination]);
		if (host->stream != NULL)
			traffic_fetch(host->stream);
		else
			fetch(host->source);
	}
}

INLINE void third_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, event->order)];

		if (host->stream != NULL)
			continue;
		if (host->sources > 0)
			traffic_fetch(host->source[0]);
		fetch(&host->nic.fifo[0].message[host->nic.fifo[0].head]);
	}
}

/* The packet and the port. */
INLINE void first_step(const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, ARRIVE)
	{
		const struct weft_switch *sw = fabric->sw[VIRTUAL_DEVICE(event->order)];
		const struct switch_port *port = &sw->port[VIRTUAL_PORT(event->order)];

		fetch(&fabric->pool.packet[event->item]);
		fetch(port);
		fetch(&port->link.rx);
	}
	EACH(event, list, LEAVE)
	{
		uint32_t at = VIRTUAL_DEVICE(event->order);
		unsigned port = VIRTUAL_PORT(event->order);

		fetch(&fabric->sw[at]->port[port]);
		fetch(&fabric->sw[at]->port[port].link.tx);
		fetch(virtual_switch_channel(fabric, at, port));
	}
	first_step_hosts(fabric, list);
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
INLINE void second_step(const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, ARRIVE)
	{
		const struct weft_packet *packet = &fabric->pool.packet[event->item];
		const struct weft_switch *sw = fabric->sw[VIRTUAL_DEVICE(event->order)];

		fetch(packet->route_length != 0 ? &packet->route[packet->cursor]
						: &sw->table_port[packet->destination]);
	}
	EACH(event, list, LEAVE)
	{
		const struct weft_switch *sw = fabric->sw[VIRTUAL_DEVICE(event->order)];
		unsigned output = VIRTUAL_PORT(event->order);

		fetch_queue(sw, output, turn(&sw->port[output].output));
	}
	second_step_hosts(fabric, list);
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

INLINE void third_step(const struct virtual_fabric *fabric, const struct virtual_ahead_list *list)
{
	EACH(event, list, ARRIVE)
	fetch_way(fabric, VIRTUAL_DEVICE(event->order), VIRTUAL_PORT(event->order),
		&fabric->pool.packet[event->item]);
	EACH(event, list, LEAVE)
	fetch_next(fabric, VIRTUAL_DEVICE(event->order), VIRTUAL_PORT(event->order));
	third_step_hosts(fabric, list);
}

void virtual_look_ahead(struct virtual_fabric *fabric)
{
	struct virtual_ahead *ahead = &fabric->ahead;

	drop_past(ahead, fabric->events->current);
	if (ahead->count > 0)
		third_step(fabric, list_at(ahead, 0));
	if (ahead->count > 1)
		second_step(fabric, list_at(ahead, 1));
	while (ahead->count < VIRTUAL_AHEAD_STEPS && sort_next(fabric))
		first_step(fabric, list_at(ahead, ahead->count - 1));
}
