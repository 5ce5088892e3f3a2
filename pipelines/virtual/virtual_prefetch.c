/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Prefetches the memory that future events will use. A large fabric, or one with full buffers, has
 * far more state than the cache holds, and its events have no locality.
 *
 * An event's addresses are found in three steps, each from data fetched by the previous step: the
 * packet, its table entry, the output stored there. Future arrivals are read from their lanes: at
 * each arrival, those a few positions behind it advance by one step each. In the calendar, the
 * three buckets after the current one advance. Before the first step, a bucket's events are sorted
 * by kind without branches, because one misprediction costs more than all prefetches of an event.
 * Missing or useless prefetches do not change results. */

#include "virtual_dispatch.h"

#include <string.h>

#include "sim/event_queue.h"
#include "virtual_control.h"
#include "virtual_send.h"

/* Required, and not only for speed: a function that only prefetches has no visible effect, so the
 * compiler would drop calls to it. */
#define INLINE static inline __attribute__((always_inline))

INLINE void fetch(const void *memory)
{
	__builtin_prefetch(memory, 1);
}

/* Kinds of events: VIRTUAL_PREFETCH_KINDS. */
enum { LEAVE, HOST_SEND, CREDIT };

/* Number of arrivals between one step and the next. */
#define ARRIVALS_STEP 4u
#define HOST_STEP     3u
#define END_STEP      2u

static struct virtual_prefetch_list *list_at(struct virtual_prefetch *ahead, unsigned distance)
{
	return &ahead->list[(ahead->first + distance) % VIRTUAL_PREFETCH_LISTS];
}

INLINE void sort_near(const struct virtual_fabric *fabric, struct virtual_prefetch_list *list,
	const struct event_bucket *bucket, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t order = event_key_order(fabric->events, bucket->key[i]);
		unsigned kind = virtual_is_host(fabric, order) ? HOST_SEND : LEAVE;

		list->order[kind][list->count[kind]++] = order;
	}
}

INLINE void sort_far(const struct virtual_fabric *fabric, struct virtual_prefetch_list *list,
	const struct event_bucket *bucket, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t order = event_key_order(fabric->events, bucket->key[i]);
		unsigned credit = VIRTUAL_KIND(order) == VIRTUAL_CREDIT ? CREDIT : LEAVE;
		unsigned kind = virtual_is_host(fabric, order) ? HOST_SEND : credit;

		list->item[list->count[CREDIT]] = event_key_item(fabric->events, bucket->key[i]);
		list->order[kind][list->count[kind]++] = order;
	}
}

/* Sorts the bucket after those sorted so far. Returns false if no such bucket exists. */
INLINE bool sort_next(struct virtual_fabric *fabric, const bool far)
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
	if (far)
		sort_far(fabric, list, bucket, count);
	else
		sort_near(fabric, list, bucket, count);
	ahead->count++;
	return true;
}

/* Drops the buckets that are due. */
static void drop_past(struct virtual_prefetch *ahead, uint64_t current)
{
	while (ahead->count > 0 && ahead->list[ahead->first].number <= current) {
		ahead->first = (ahead->first + 1) % VIRTUAL_PREFETCH_LISTS;
		ahead->count--;
	}
}

#define EACH(order, list, kind)                                                               \
	for (const uint32_t *order = (list)->order[kind], *end = order + (list)->count[kind]; \
		order < end; order++)

/* A message accesses the host, its traffic source, the channel with its credits, and a number. */
INLINE void first_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[virtual_host_of(fabric, *order)];

		fetch(host);
		if (fabric->number_table == NULL)
			fetch(&host->nic.sent.entry);
		fetch(&host->nic.stream);
		fetch(&host->nic.frames_sent);
		fetch(&host->nic.link.tx);
		fetch(virtual_host_channel(fabric, virtual_host_of(fabric, *order)));
	}
}

INLINE void second_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[virtual_host_of(fabric, *order)];

		fetch(datagram_sent_place(&host->nic, host->next_destination));
		if (host->stream != NULL) {
			traffic_fetch(host->stream);
			continue;
		}
		fetch(host->source);
		fetch(host->nic.fifo);
	}
}

INLINE void third_step_hosts(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, HOST_SEND)
	{
		const struct virtual_host *host = &fabric->host[virtual_host_of(fabric, *order)];

		if (host->stream != NULL)
			continue;
		if (host->sources > 0)
			traffic_fetch(host->source[0]);
		fetch(&host->nic.fifo[0].message[host->nic.fifo[0].head]);
	}
}

/* Fetches an output that becomes free. */
INLINE void fetch_output(const struct virtual_fabric *fabric, uint32_t order)
{
	uint32_t at = VIRTUAL_SWITCH(order);
	unsigned port = VIRTUAL_PORT(order);

	fetch(&fabric->sw[at]->port[port].output);
	fetch(virtual_switch_channel(fabric, at, port));
}

/* A credit frame accesses the end where it arrives, and the switch if this can now send more. */
INLINE void first_step_credits(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	EACH(order, list, CREDIT)
	{
		const struct weft_switch *sw = fabric->sw[VIRTUAL_SWITCH(*order)];
		const struct link_end *link = &sw->port[VIRTUAL_PORT(*order)].link;

		fetch_output(fabric, *order);
		virtual_fetch_link(link);
		fetch(link->rx);
		fetch(sw);
	}
}

INLINE void second_step_credits(
	const struct virtual_fabric *fabric, const struct virtual_prefetch_list *list)
{
	for (unsigned i = 0; i < list->count[CREDIT]; i++)
		if (list->item[i] < fabric->freed)
			fetch(virtual_credit_at(fabric, list->item[i]));
}

INLINE void first_step(const struct virtual_fabric *fabric,
	const struct virtual_prefetch_list *list, const bool far)
{
	EACH(order, list, LEAVE)
	fetch_output(fabric, *order);
	if (far)
		first_step_credits(fabric, list);
	first_step_hosts(fabric, list);
}

/* Returns the input that an output serves next, round robin; input 0 if none is ready. */
INLINE unsigned next_input(const struct switch_output *out)
{
	return port_set_is_empty(out->ready) ? 0
					     : port_set_round_robin(out->ready, out->next_input);
}

INLINE void fetch_queue(const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs > 1)
		fetch(switch_cross(sw, output, input));
	fetch(switch_queues(sw, output, input));
}

/* Fetches the queue that the output serves next. */
INLINE void fetch_next_queue(const struct virtual_fabric *fabric, uint32_t order)
{
	const struct weft_switch *sw = fabric->sw[VIRTUAL_SWITCH(order)];
	unsigned output = VIRTUAL_PORT(order);

	fetch_queue(sw, output, next_input(&sw->port[output].output));
}

INLINE void second_step(const struct virtual_fabric *fabric,
	const struct virtual_prefetch_list *list, const bool far)
{
	if (far)
		second_step_credits(fabric, list);
	EACH(order, list, LEAVE)
	fetch_next_queue(fabric, *order);
	second_step_hosts(fabric, list);
}

/* Fetches the link and the return channel of an input that sends a credit frame. */
INLINE void fetch_grant(const struct virtual_fabric *fabric, uint32_t at, unsigned input)
{
	const struct virtual_tx *back = virtual_switch_channel(fabric, at, input);
	const struct link_end *end = &fabric->sw[at]->port[input].link;

	virtual_fetch_link(end);
	fetch(&end->tx);
	fetch(back);
	fetch(virtual_tx_cold(fabric, back));
}

/* Fetches the output's next packet, its buffer, and the buffer that the previous packet left. */
INLINE void fetch_next_packet(const struct virtual_fabric *fabric, uint32_t order, const bool far)
{
	uint32_t at = VIRTUAL_SWITCH(order);
	unsigned output = VIRTUAL_PORT(order);
	const struct weft_switch *sw = fabric->sw[at];
	unsigned input = next_input(&sw->port[output].output);
	unsigned before = fabric->crossbar[at].input[output];

	fetch(switch_queues(sw, output, input)->head);
	fetch(&sw->port[input].link.rx);
	if (before == SWITCH_PORT_NONE)
		return;
	fetch(&sw->port[before].link.rx);
	/* Most traffic is in VC 0. */
	if (far && port_set_has(fabric->crossbar[at].watched[0], before))
		fetch_grant(fabric, at, before);
}

INLINE void third_step(const struct virtual_fabric *fabric,
	const struct virtual_prefetch_list *list, const bool far)
{
	EACH(order, list, LEAVE)
	fetch_next_packet(fabric, *order, far);
	third_step_hosts(fabric, list);
}

INLINE void look(struct virtual_fabric *fabric, const bool far)
{
	struct virtual_prefetch *ahead = &fabric->ahead;

	drop_past(ahead, fabric->events->current);
	if (ahead->count > 0)
		third_step(fabric, list_at(ahead, 0), far);
	if (ahead->count > 1)
		second_step(fabric, list_at(ahead, 1), far);
	while (ahead->count < VIRTUAL_PREFETCH_STEPS && sort_next(fabric, far))
		first_step(fabric, list_at(ahead, ahead->count - 1), far);
}

void virtual_prefetch(struct virtual_fabric *fabric)
{
	if (fabric->looks_far)
		look(fabric, true);
	else
		look(fabric, false);
}

/* Returns the record of the arrival at this distance behind the current one. */
INLINE struct virtual_prefetch_arrival *arrival_at(struct virtual_fabric *fabric, uint32_t places)
{
	uint32_t place = event_lane_place(&fabric->events->lane[VIRTUAL_LANE_SWITCH], places);

	return &fabric->ahead.arrival[place % VIRTUAL_PREFETCH_ARRIVALS];
}

/* Fetches the packet and the switch. */
INLINE void first_arrival(struct virtual_fabric *fabric, uint32_t places)
{
	const struct event_queue *events = fabric->events;
	uint64_t number = event_lane_at(&events->lane[VIRTUAL_LANE_SWITCH], places);
	uint32_t order = event_key_order(events, number), at = VIRTUAL_SWITCH(order);
	struct virtual_prefetch_arrival *arrival = arrival_at(fabric, places);

	arrival->packet = &fabric->pool.packet[event_key_item(events, number)];
	arrival->sw = fabric->sw[at];
	arrival->channel = virtual_switch_channel(fabric, at, 0);
	arrival->input = VIRTUAL_PORT(order);
	fetch(arrival->packet);
	fetch(arrival->sw);
}

/* Fetches the input, and the packet's route element or table entry. */
INLINE void second_arrival(const struct virtual_prefetch_arrival *arrival)
{
	const struct weft_packet *packet = arrival->packet;
	const struct switch_port *port;

	if (packet == NULL)
		return;
	port = &arrival->sw->port[arrival->input];
	fetch(&port->count[SWITCH_DATA_IN]);
	fetch(&port->link.rx);
	if (packet->route_length != 0)
		fetch(&packet->route[packet->cursor]);
	else
		fetch(switch_table_place(arrival->sw, packet->destination));
}

/* Fetches the packet's output, and the queue that it may have to join. */
INLINE void third_arrival(const struct virtual_prefetch_arrival *arrival)
{
	const struct weft_packet *packet = arrival->packet;
	const struct weft_switch *sw = arrival->sw;
	unsigned output = SWITCH_PORT_NONE;

	if (packet == NULL)
		return;
	if (packet->route_length != 0)
		output = packet->route[packet->cursor] & ROUTE_PORT_MASK;
	else if (packet->destination <= sw->table_last)
		output = switch_table_port(sw, packet->destination);
	if (output >= sw->ports)
		return;
	fetch(&arrival->channel[output]);
	fetch(&sw->port[output].output);
	fetch_queue(sw, output, arrival->input);
}

void virtual_prefetch_switch(struct virtual_fabric *fabric)
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

/* Arrivals at hosts access the packet's origin and the host's record of the sender. */
void virtual_prefetch_host(struct virtual_fabric *fabric)
{
	struct arrival first = arrival(fabric, VIRTUAL_LANE_HOST, 2 * HOST_STEP);
	struct arrival second = arrival(fabric, VIRTUAL_LANE_HOST, HOST_STEP);
	const struct virtual_host *host = &fabric->host[virtual_host_of(fabric, first.order)];

	fetch(first.packet);
	fetch(virtual_origin_of(fabric, first.packet));
	fetch(&host->nic.come);
	if (fabric->number_table == NULL)
		fetch(&host->nic.come.entry);
	fetch(&host->nic.link.rx);
	host = &fabric->host[virtual_host_of(fabric, second.order)];
	fetch(datagram_come_place(&host->nic, second.packet->source));
}

INLINE void look_at_ends(const struct virtual_fabric *fabric, const bool far)
{
	const struct event_queue *events = fabric->events;
	const struct event_lane *lane = &events->lane[VIRTUAL_LANE_END];

	fetch_output(fabric, event_key_order(events, event_lane_ahead(lane, 3 * END_STEP)));
	fetch_next_queue(fabric, event_key_order(events, event_lane_ahead(lane, 2 * END_STEP)));
	fetch_next_packet(fabric, event_key_order(events, event_lane_ahead(lane, END_STEP)), far);
}

/* Uses the same steps as for buckets. */
void virtual_prefetch_end(struct virtual_fabric *fabric)
{
	if (fabric->looks_far)
		look_at_ends(fabric, true);
	else
		look_at_ends(fabric, false);
}
