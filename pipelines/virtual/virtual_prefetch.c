/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/*
 * Asks for the memory of what is about to happen, so that it is in the cache by then. A large
 * fabric, or one whose buffers are full, has far more state than the cache holds, and nothing about
 * its events is local.
 *
 * What an event needs is found step by step, each from what the step before has fetched: the
 * packet, its entry in the table, the output that stands there. Which arrivals come next stands in
 * their lanes, so at each one those a few places behind it are each one step further. Of the
 * calendar's events the three buckets that follow the one whose turn it is are. Before the first
 * step a bucket's events are told apart by what they need, without branches: a branch that is
 * guessed wrongly costs more than all that is fetched for an event. Hints only: what is missed, or
 * fetched in vain, changes no result.
 */

#include "virtual_prefetch.h"

#include <string.h>

#include "event_prefetch.h"

/* Not only for speed: a function that does nothing but prefetch has no effect that the compiler
 * knows of, and a call of it is dropped. */
#define INLINE static inline __attribute__((always_inline))

INLINE void fetch(const void *memory)
{
	__builtin_prefetch(memory, 1);
}

/* What happens there: VIRTUAL_AHEAD_KINDS. */
enum { LEAVE, HOST_SEND };

/* Arrivals between one step and the next. */
#define ARRIVALS_STEP 4u
#define HOST_STEP     3u
#define END_STEP      2u

static struct virtual_prefetch_list *list_at(struct virtual_prefetch *ahead, unsigned distance)
{
	return &ahead->list[(ahead->first + distance) % VIRTUAL_AHEAD_LISTS];
}

/* The events of the next bucket after all that are known; false: there are none. */
static bool sort_next(struct virtual_fabric *fabric)
{
	struct virtual_prefetch *ahead = &fabric->ahead;
	const struct event_queue *events = fabric->events;
	struct virtual_prefetch_list *list = list_at(ahead, ahead->count);
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
		unsigned kind = VIRTUAL_DEVICE(order) >= fabric->switches ? HOST_SEND : LEAVE;

		list->order[kind][list->count[kind]++] = order;
	}
	ahead->count++;
	return true;
}

/* Forgets the buckets whose turn has come. */
static void drop_past(struct virtual_prefetch *ahead, uint64_t current)
{
	while (ahead->count > 0 && ahead->list[ahead->first].number <= current) {
		ahead->first = (ahead->first + 1) % VIRTUAL_AHEAD_LISTS;
		ahead->count--;
	}
}

#define EACH(order, list, kind)                                                               \
	for (const uint32_t *order = (list)->order[kind], *end = order + (list)->count[kind]; \
		order < end; order++)

/* A message needs the host, the source that it comes from, the channel and the number of its first
 * frame. */
INLINE uint32_t number_of(const struct virtual_fabric *fabric, uint32_t order)
{
	return VIRTUAL_DEVICE(order) - fabric->switches;
}

INLINE void first_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, *order)];

		fetch(host);
		fetch(&host->nic.come);
		fetch(&host->nic.stream);
		fetch(&host->nic.frames_sent);
		fetch(virtual_host_channel(fabric, number_of(fabric, *order)));
	}
}

INLINE void second_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, *order)];

		fetch(&host->nic.sent[host->next_destination]);
		if (host->stream != NULL)
			traffic_fetch(host->stream);
		else
			fetch(host->source);
	}
}

INLINE void third_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[number_of(fabric, *order)];

		if (host->stream != NULL)
			continue;
		if (host->sources > 0)
			traffic_fetch(host->source[0]);
		fetch(&host->nic.fifo[0].message[host->nic.fifo[0].head]);
	}
}

/* An output that will be free. */
INLINE void fetch_output(const struct virtual_fabric *fabric, uint32_t order)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	unsigned port = VIRTUAL_PORT(order);

	fetch(&fabric->sw[at]->port[port].output);
	fetch(virtual_switch_channel(fabric, at, port));
}

INLINE void first_step(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, LEAVE)
	fetch_output(fabric, *order);
	first_step_hosts(fabric, list);
}

/* The input whose turn it is there; some input if there is none. */
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

/* Who is next there. */
INLINE void fetch_turn(const struct virtual_fabric *fabric, uint32_t order)
{
	const struct weft_switch *sw = fabric->sw[VIRTUAL_DEVICE(order)];
	unsigned output = VIRTUAL_PORT(order);

	fetch_queue(sw, output, turn(&sw->port[output].output));
}

INLINE void second_step(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, LEAVE)
	fetch_turn(fabric, *order);
	second_step_hosts(fabric, list);
}

/* The packet that is next at the output, the buffer that it leaves, and the one that the packet
 * before it has left. */
INLINE void fetch_next(const struct virtual_fabric *fabric, uint32_t order)
{
	uint32_t at = VIRTUAL_DEVICE(order);
	unsigned output = VIRTUAL_PORT(order);
	const struct weft_switch *sw = fabric->sw[at];
	unsigned input = turn(&sw->port[output].output);
	unsigned before = fabric->crossbar[at].input[output];

	fetch(switch_queues(sw, output, input)->head);
	fetch(&sw->port[input].link.rx);
	if (before != SWITCH_PORT_NONE)
		fetch(&sw->port[before].link.rx);
}

INLINE void third_step(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, LEAVE)
	fetch_next(fabric, *order);
	third_step_hosts(fabric, list);
}

void virtual_look_ahead(struct virtual_fabric *fabric)
{
	struct virtual_prefetch *ahead = &fabric->ahead;

	drop_past(ahead, fabric->events->current);
	if (ahead->count > 0)
		third_step(fabric, list_at(ahead, 0));
	if (ahead->count > 1)
		second_step(fabric, list_at(ahead, 1));
	while (ahead->count < VIRTUAL_AHEAD_STEPS && sort_next(fabric))
		first_step(fabric, list_at(ahead, ahead->count - 1));
}

/* What arrives so many places after what arrives now. */
INLINE struct virtual_prefetch_arrival *arrival_at(struct virtual_fabric *fabric, uint32_t places)
{
	uint32_t place = event_lane_place(&fabric->events->lane[VIRTUAL_LANE_SWITCH], places);

	return &fabric->ahead.arrival[place % VIRTUAL_AHEAD_ARRIVALS];
}

/* The packet and the switch. */
INLINE void first_arrival(struct virtual_fabric *fabric, uint32_t places)
{
	const struct event_queue *events = fabric->events;
	uint64_t number = event_lane_at(&events->lane[VIRTUAL_LANE_SWITCH], places);
	uint32_t order = event_key_order(events, number), at = VIRTUAL_DEVICE(order);
	struct virtual_prefetch_arrival *arrival = arrival_at(fabric, places);

	arrival->packet = &fabric->pool.packet[event_key_item(events, number)];
	arrival->sw = fabric->sw[at];
	arrival->channel = virtual_switch_channel(fabric, at, 0);
	arrival->input = VIRTUAL_PORT(order);
	fetch(arrival->packet);
	fetch(arrival->sw);
}

/* The input, and what the packet says: its entry in the table. */
INLINE void second_arrival(const struct virtual_prefetch_arrival *arrival)
{
	const struct weft_packet *packet = arrival->packet;
	const struct switch_port *port;

	if (packet == NULL)
		return;
	port = &arrival->sw->port[arrival->input];
	fetch(&port->count[SWITCH_DATA_IN]);
	fetch(&port->link.rx);
	fetch(packet->route_length != 0 ? &packet->route[packet->cursor]
					: &arrival->sw->table_port[packet->destination]);
}

/* Where the packet goes: the output, and the queue in which it may have to wait. */
INLINE void third_arrival(const struct virtual_prefetch_arrival *arrival)
{
	const struct weft_packet *packet = arrival->packet;
	const struct weft_switch *sw = arrival->sw;
	unsigned output = SWITCH_PORT_NONE;

	if (packet == NULL)
		return;
	if (packet->route_length != 0)
		output = packet->route[packet->cursor] & ROUTE_PORT_MASK;
	else if (packet->destination < sw->table_hosts)
		output = sw->table_port[packet->destination];
	if (output >= sw->ports)
		return;
	fetch(&arrival->channel[output]);
	fetch(&sw->port[output].output);
	fetch_queue(sw, output, arrival->input);
}

void virtual_look_ahead_switch(struct virtual_fabric *fabric)
{
	const struct event_lane *lane = &fabric->events->lane[VIRTUAL_LANE_SWITCH];

	if (__builtin_expect(event_lane_count(lane) >= 3 * ARRIVALS_STEP, 1))
		first_arrival(fabric, 3 * ARRIVALS_STEP);
	second_arrival(arrival_at(fabric, 2 * ARRIVALS_STEP));
	third_arrival(arrival_at(fabric, ARRIVALS_STEP));
}

struct arrival {
	uint32_t order;
	const struct weft_packet *packet;
};

INLINE struct arrival arrival(
	const struct virtual_fabric *fabric, enum virtual_lane lane, uint32_t places)
{
	uint64_t number = event_lane_ahead(&fabric->events->lane[lane], places);

	return (struct arrival){event_key_order(fabric->events, number),
		&fabric->pool.packet[event_key_item(fabric->events, number)]};
}

/* What arrives at a host needs the packet's origin and what is known of its sender. */
void virtual_look_ahead_host(struct virtual_fabric *fabric)
{
	struct arrival first = arrival(fabric, VIRTUAL_LANE_HOST, 2 * HOST_STEP);
	struct arrival second = arrival(fabric, VIRTUAL_LANE_HOST, HOST_STEP);
	const struct virtual_host *host = &fabric->host[number_of(fabric, first.order)];

	fetch(first.packet);
	fetch(virtual_origin_of(fabric, first.packet));
	fetch(&host->nic.come);
	fetch(&host->nic.link.rx);
	host = &fabric->host[number_of(fabric, second.order)];
	fetch(&host->nic.come[(size_t)second.packet->source * host->nic.come_step]);
}

/* The same as in buckets. */
void virtual_look_ahead_end(struct virtual_fabric *fabric)
{
	const struct event_queue *events = fabric->events;
	const struct event_lane *lane = &events->lane[VIRTUAL_LANE_END];

	fetch_output(fabric, event_key_order(events, event_lane_ahead(lane, 3 * END_STEP)));
	fetch_turn(fabric, event_key_order(events, event_lane_ahead(lane, 2 * END_STEP)));
	fetch_next(fabric, event_key_order(events, event_lane_ahead(lane, END_STEP)));
}
