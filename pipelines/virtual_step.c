/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* What happens at one event: the hot part of a virtual run. */

#include <stdlib.h>

#include "rng.h"
#include "virtual_devices.h"

static inline struct weft_packet *take_packet(struct virtual_fabric *fabric)
{
	struct virtual_pool *pool = &fabric->pool;
	struct weft_packet *packet = pool->free;

	if (__builtin_expect(packet != NULL, 1)) {
		pool->free = packet->next;
	} else if (pool->used < pool->size) {
		packet = &pool->packet[pool->used++].packet;
	} else {
		fabric->failed = true;
		return NULL;
	}
	pool->out++;
	return packet;
}

static inline void give_packet(struct virtual_fabric *fabric, struct weft_packet *packet)
{
	packet->next = fabric->pool.free;
	fabric->pool.free = packet;
	fabric->pool.out--;
}

/* Room for as many records again. */
static bool grow_credits(struct virtual_credits *credits)
{
	uint32_t size = credits->size * 2;
	struct control_credit *record = realloc(credits->record, size * sizeof(*record));
	uint32_t *next = realloc(credits->next_free, size * sizeof(*next));

	if (record != NULL)
		credits->record = record;
	if (next != NULL)
		credits->next_free = next;
	if (record == NULL || next == NULL)
		return false;
	for (uint32_t i = credits->size; i < size; i++)
		next[i] = i + 1;
	credits->size = size;
	return true;
}

/* A credit frame of this end, over the link that 'channel' sends by. */
static void send_credit(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_channel *channel, weft_time now)
{
	struct virtual_credits *credits = &fabric->credits;
	uint32_t item = credits->first_free;

	if (item == credits->size && !grow_credits(credits)) {
		fabric->failed = true;
		return;
	}
	credits->first_free = credits->next_free[item];
	link_end_fill_credit(end, &credits->record[item], now);
	event_queue_push(
		fabric->events, (struct sim_event){now + channel->delay_ps, channel->credit, item});
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_watch_credit(fabric, channel->credit, &credits->record[item], now);
}

/* The channel begins to send; 'done' is the order of the event of its end. */
static inline void start(struct virtual_fabric *fabric, struct virtual_channel *channel,
	struct weft_packet *packet, uint32_t done, weft_time now)
{
	uint64_t takes = (packet->bytes + FRAME_WIRE_OVERHEAD) * channel->ps_per_byte;
	uint32_t item = (uint32_t)(virtual_packet_of(packet) - fabric->pool.packet);

	channel->sending = true;
	channel->busy_ps += takes;
	if (channel->blocked_since != WEFT_TIME_NEVER) {
		channel->blocked_ps += now - channel->blocked_since;
		channel->blocked_since = WEFT_TIME_NEVER;
	}
	event_queue_push(fabric->events, (struct sim_event){now + takes, done, 0});
	event_queue_push(fabric->events,
		(struct sim_event){now + (channel->waits ? takes : 0) + channel->arrive_ps,
			channel->arrive, item});
	if (__builtin_expect(fabric->watch != NULL, 0))
		virtual_watch_out(fabric, done, packet, now);
}

static inline void note_blocked(struct virtual_channel *channel, weft_time now)
{
	if (channel->blocked_since == WEFT_TIME_NEVER)
		channel->blocked_since = now;
}

void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now)
{
	struct virtual_channel *channel = virtual_switch_channel(fabric, at, port);
	struct weft_switch *sw = fabric->sw[at];
	struct weft_packet *packet;

	if (channel->sending || (sw->busy >> port & 1) == 0)
		return;
	if (switch_transmit(sw, port, &packet, 1, now) == 0) {
		if (sw->port[port].output.stalled != 0)
			note_blocked(channel, now);
		return;
	}
	/* Its space is free when its tail has left; the descriptor is the next device's by then. */
	channel->in_port = packet->in_port;
	channel->vc = packet->vc;
	channel->blocks = packet->blocks;
	switch_hold(sw, packet->in_port);
	start(fabric, channel, packet, VIRTUAL_ORDER(at, port, VIRTUAL_DONE), now);
}

/* Without VOQs the heads of an input that has read a packet out may go now, wherever they want to.
 */
static void try_heads(struct virtual_fabric *fabric, uint32_t at, unsigned input, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	for (unsigned vc = 0; vc < sw->vcs; vc++) {
		const struct weft_packet *head = switch_cross(sw, 0, input)->queue[vc].head;

		if (head != NULL)
			virtual_switch_try(fabric, at, head->out_port, now);
	}
}

static void switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now)
{
	struct virtual_channel *channel = virtual_switch_channel(fabric, at, port);
	unsigned input = channel->in_port;
	struct weft_switch *sw = fabric->sw[at];
	struct link_end *from = &sw->port[input].link;
	struct credit_rx *rx = &from->rx[channel->vc];

	channel->sending = false;
	switch_let_go(sw, input);
	credit_release(rx, channel->blocks);
	if (credit_grant_due(rx))
		send_credit(fabric, from, virtual_switch_channel(fabric, at, input), now);
	virtual_switch_try(fabric, at, port, now);
	if (!sw->voq)
		try_heads(fabric, at, input, now);
}

void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at)
{
	struct weft_packet *packet = switch_take_discards(fabric->sw[at]), *next;

	for (; packet != NULL; packet = next) {
		struct link_end *from = &fabric->sw[at]->port[packet->in_port].link;

		next = packet->next;
		if (packet->vc < from->config.vcs && credit_grant_due(&from->rx[packet->vc]))
			send_credit(fabric, from,
				virtual_switch_channel(fabric, at, packet->in_port), fabric->now);
		give_packet(fabric, packet);
		fabric->dropped++;
	}
}

static inline void switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned port,
	struct weft_packet *packet, weft_time now)
{
	struct weft_switch *sw = fabric->sw[at];

	packet->vc = packet->header_vc;
	packet->hop = packet->route_length != 0 ? packet->route[packet->cursor] : 0;
	switch_receive(sw, port, &packet, 1, now);
	if (__builtin_expect(sw->discarded != NULL, 0)) {
		virtual_take_discards(fabric, at);
		return;
	}
	virtual_switch_try(fabric, at, packet->out_port, now);
}

/* What is due from the host's sources, as far as the interface takes it. Returns when more is. */
static weft_time poll_sources(struct virtual_host *host, weft_time now)
{
	weft_time next = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < host->sources; i++) {
		struct traffic *source = host->source[i];
		weft_time due = traffic_due(source);
		struct traffic_message from;

		while (due <= now && traffic_poll(source, now, &from)) {
			const struct datagram_message message = {.generated_ps = from.generated_ps,
				.bytes = from.bytes,
				.destination = from.destination,
				.sl = from.sl};

			if (!datagram_has_room(&host->nic, &message)) {
				due = WEFT_TIME_NEVER; /* until something has left */
				break;
			}
			datagram_send(&host->nic, &message);
			traffic_accept(source);
			due = traffic_due(source);
		}
		next = due < next ? due : next;
	}
	return next;
}

static bool inject(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_channel *channel = virtual_host_channel(fabric, number);
	struct virtual_host *host = &fabric->host[number];
	struct weft_packet *packet = host->nic.waiting != 0 ? take_packet(fabric) : NULL;

	if (packet == NULL)
		return false;
	if (!datagram_inject(&host->nic, now, packet, &virtual_packet_of(packet)->origin)) {
		give_packet(fabric, packet);
		note_blocked(channel, now);
		return false;
	}
	start(fabric, channel, packet, VIRTUAL_ORDER(fabric->switches + number, 0, VIRTUAL_DONE),
		now);
	return true;
}

void virtual_host_try(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_host *host = &fabric->host[number];
	weft_time next;

	if (virtual_host_channel(fabric, number)->sending)
		return;
	next = poll_sources(host, now);
	if (__builtin_expect(fabric->replay != NULL, 0)) {
		weft_time due = virtual_goal_poll(fabric, number, now);

		next = due < next ? due : next;
	}
	if (inject(fabric, number, now) || next >= host->wake_at)
		return;
	host->wake_at = next;
	event_queue_push(fabric->events,
		(struct sim_event){
			next, VIRTUAL_ORDER(fabric->switches + number, 0, VIRTUAL_WAKE), 0});
}

static void host_arrive(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	const struct datagram_origin *origin = &virtual_packet_of(packet)->origin;
	struct datagram *nic = &fabric->host[number].nic;
	weft_time latency = now - origin->injected_ps;

	packet->vc = packet->header_vc;
	datagram_receive(nic, packet, origin);
	if (credit_grant_due(&nic->link.rx[packet->vc]))
		send_credit(fabric, &nic->link, virtual_host_channel(fabric, number), now);
	fabric->wire_bytes += packet->bytes + FRAME_WIRE_OVERHEAD;
	fabric->latency_sum_ps += latency;
	if (now >= fabric->measure_from) {
		histogram_record(&fabric->network_ns, latency / PS_PER_NS);
		if (packet->flags & FRAME_F_TAIL)
			histogram_record(
				&fabric->total_ns, (now - origin->generated_ps) / PS_PER_NS);
	}
	fabric->fingerprint = rng_mix(fabric->fingerprint ^ now ^ (uint64_t)packet->source << 48 ^
				      (uint64_t)packet->destination << 32 ^ packet->sequence);
	if (__builtin_expect(fabric->replay != NULL, 0) && (packet->flags & FRAME_F_TAIL) != 0)
		virtual_goal_take(fabric, number, packet->source, now);
	give_packet(fabric, packet);
}

/* Nothing is lost on a virtual link, so there is nothing to heal; the sender's total speaks of what
 * is still under way, too, and must not count as lost. */
static struct control_credit *open_credit(
	struct virtual_fabric *fabric, uint32_t item, const struct link_end *end)
{
	struct control_credit *credit = &fabric->credits.record[item];

	for (unsigned vc = 0; vc < credit->vcs; vc++)
		credit->sent[vc] = end->rx[vc].received;
	fabric->credits.next_free[item] = fabric->credits.first_free;
	fabric->credits.first_free = item;
	return credit;
}

static void switch_step(
	struct virtual_fabric *fabric, const struct sim_event *event, uint32_t at, unsigned port)
{
	struct weft_switch *sw = fabric->sw[at];

	switch (VIRTUAL_KIND(event->order)) {
	case VIRTUAL_ARRIVE:
		switch_arrive(
			fabric, at, port, &fabric->pool.packet[event->item].packet, event->at);
		return;
	case VIRTUAL_DONE:
		switch_done(fabric, at, port, event->at);
		return;
	default:
		switch_on_credit(sw, port, open_credit(fabric, event->item, &sw->port[port].link),
			event->at);
		virtual_switch_try(fabric, at, port, event->at);
	}
}

static void host_step(struct virtual_fabric *fabric, const struct sim_event *event, uint32_t number)
{
	struct virtual_host *host = &fabric->host[number];

	switch (VIRTUAL_KIND(event->order)) {
	case VIRTUAL_ARRIVE:
		host_arrive(fabric, number, &fabric->pool.packet[event->item].packet, event->at);
		return;
	case VIRTUAL_DONE:
		virtual_host_channel(fabric, number)->sending = false;
		break;
	case VIRTUAL_WAKE:
		if (host->wake_at <= event->at)
			host->wake_at = WEFT_TIME_NEVER;
		break;
	default:
		link_end_on_credit(&host->nic.link,
			open_credit(fabric, event->item, &host->nic.link), event->at);
	}
	virtual_host_try(fabric, number, event->at);
}

void virtual_step(struct virtual_fabric *fabric, const struct sim_event *event)
{
	uint32_t device = VIRTUAL_DEVICE(event->order);

	fabric->now = event->at;
	if (device < fabric->switches)
		switch_step(fabric, event, device, VIRTUAL_PORT(event->order));
	else
		host_step(fabric, event, device - fabric->switches);
}
