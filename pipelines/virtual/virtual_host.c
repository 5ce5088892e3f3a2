/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric: due messages leave, arrivals are counted and measured. */

#include "virtual_dispatch.h"

#include "base/rng.h"
#include "nic/datagram/datagram_control.h"
#include "nic/datagram/datagram_stream.h"
#include "partition_message.h"
#include "virtual_control.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

/* A host that must not send because too many frames wait to be put in order retries after this
 * time. */
#define FULL_PS PS_PER_US

/* Queues due messages, as many as the interface takes. Returns the time when the next one is
 * due. */
static weft_time poll_sources(struct virtual_host *host, weft_time now)
{
	weft_time next = WEFT_TIME_NEVER;

	for (unsigned i = 0; i < host->sources; i++) {
		struct traffic *source = host->source[i];
		weft_time due = traffic_due(source);
		struct traffic_message from;
		bool full = false;

		while (due <= now && traffic_poll(source, now, &from)) {
			const struct datagram_message message = {.generated_ps = from.generated_ps,
				.bytes = from.bytes,
				.destination = from.destination,
				.sl = from.sl,
				.entry = traffic_config(source)->entry};

			full = !datagram_has_room(&host->nic, &message);
			if (full)
				break;
			datagram_send(&host->nic, &message);
			traffic_accept(source);
			/* This is one of many thousands of numbers; it will be in the cache when it
			 * is needed. */
			host->next_destination = traffic_next_destination(source);
			__builtin_prefetch(
				datagram_sent_place(&host->nic, host->next_destination), 1);
			due = traffic_due(source);
		}
		/* A full queue is retried when something has left. The message due may be for
		 * another queue: never return a time that has passed. */
		due = full ? WEFT_TIME_NEVER : traffic_due(source);
		next = due < next ? due : next;
	}
	return next;
}

static inline bool holds_transit(const struct virtual_host *host)
{
	return host->nic.itb != NULL && host->nic.itb->frames > 0;
}

static inline bool resends(const struct virtual_host *host, weft_time now)
{
	return host->nic.recovery != NULL && datagram_recovery_waits(host->nic.recovery, now);
}

/* Discarded packets go before new ones. */
static bool resend(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_tx *channel = virtual_host_channel(fabric, number);
	struct datagram *nic = &fabric->host[number].nic;
	bool first = nic->recovery->again->stalled == DATAGRAM_WAIT_FIRST;
	struct weft_packet *packet = datagram_recovery_resend(nic, now);

	if (packet == NULL) {
		virtual_note_blocked(channel, now);
		return false;
	}
	if (first) {
		virtual_origin_of(fabric, packet)->injected_ps = now;
		fabric->unsent--;
	}
	/* It counts against the flow's rate but does not wait for it. */
	if (fabric->pauses != NULL && nic->control != NULL)
		datagram_control_resent(nic, packet, now);
	virtual_start(fabric, channel, packet, now);
	return true;
}

/* True if a new frame waits for a cut cable. */
static bool keep(struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet)
{
	bool kept = datagram_cuts_keep(&fabric->host[number].nic, packet);

	fabric->unsent += kept;
	return kept;
}

static bool inject(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_tx *channel = virtual_host_channel(fabric, number);
	struct virtual_host *host = &fabric->host[number];
	struct weft_packet *packet;

	if (__builtin_expect(host->nic.recovery != NULL, 0) && !host->paused)
		virtual_recovery_settle(fabric, number, now);
	if (__builtin_expect(holds_transit(host), 0)) {
		packet = virtual_transit_next(fabric, number, now);
		if (packet != NULL) {
			virtual_start(fabric, channel, packet, now);
			return true;
		}
	}
	if (__builtin_expect(host->paused, 0))
		return false;
	if (__builtin_expect(resends(host, now), 0))
		return resend(fabric, number, now);
	do {
		if (__builtin_expect(host->nic.order != NULL, 0) &&
			(virtual_order_is_full(fabric) || datagram_cuts_are_full(&host->nic)))
			return false;
		packet = host->nic.waiting != 0 || datagram_control_held(&host->nic) != 0
				 ? virtual_take_packet(fabric)
				 : NULL;
		if (packet == NULL)
			return false;
		if (!datagram_inject(&host->nic, now, packet, virtual_origin_of(fabric, packet))) {
			virtual_give_packet(fabric, packet);
			/* Paused messages wait for no credits. */
			if (host->nic.waiting != 0)
				virtual_note_blocked(channel, now);
			return false;
		}
	} while (__builtin_expect(host->nic.recovery != NULL, 0) && keep(fabric, number, packet));
	virtual_start(fabric, channel, packet, now);
	return true;
}

void virtual_host_wake_by(struct virtual_fabric *fabric, uint32_t number, weft_time next)
{
	struct virtual_host *host = &fabric->host[number];

	if (next >= host->wake_at)
		return;
	host->wake_at = next;
	event_queue_push(fabric->events,
		(struct sim_event){next, virtual_host_order(fabric, number, VIRTUAL_WAKE), 0});
}

/* Takes the stream's next message, if it is due. */
static bool take_message(struct virtual_host *host, weft_time now)
{
	struct traffic_taken taken;

	while (host->next_ps <= now && traffic_take(host->stream, now, &taken)) {
		host->next_ps = taken.next_ps;
		/* This is one of many thousands of numbers; it will be in the cache when it is
		 * needed. */
		host->next_destination = taken.next_destination;
		__builtin_prefetch(datagram_sent_place(&host->nic, host->next_destination), 1);
		if (datagram_stream_begin(&host->nic, taken.message.destination,
			    taken.message.bytes, taken.message.generated_ps, now))
			return true;
	}
	return false;
}

/* Sends the stream's frames. Sending continues when the next message is due or the channel is free
 * or, if credits are lacking, with the next credit frame. */
static void try_stream(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_tx *channel = virtual_host_channel(fabric, number);
	struct virtual_host *host = &fabric->host[number];
	struct datagram_stream *stream = &host->nic.stream;
	weft_time next = channel->free_at;

	if (datagram_stream_is_empty(stream) && !take_message(host, now)) {
		virtual_host_wake_by(fabric, number, host->next_ps);
		return;
	}
	if (next <= now) {
		struct weft_packet *packet;

		if (!datagram_stream_can_go(stream)) {
			virtual_note_blocked(channel, now);
			return;
		}
		if (__builtin_expect(virtual_order_is_full(fabric), 0) && host->nic.order != NULL) {
			virtual_host_wake_by(fabric, number, now + FULL_PS);
			return;
		}
		packet = virtual_take_packet(fabric);
		if (packet == NULL)
			return;
		datagram_stream_inject(&host->nic, now, packet, virtual_origin_of(fabric, packet));
		virtual_start(fabric, channel, packet, now);
		next = channel->free_at;
		if (datagram_stream_is_empty(stream) && host->next_ps > next)
			next = host->next_ps;
	}
	virtual_host_wake_by(fabric, number, next);
}

/* Sends frames from FIFOs or in transit. */
static __attribute__((noinline)) void try_fifos(
	struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_tx *channel = virtual_host_channel(fabric, number);
	struct virtual_host *host = &fabric->host[number];
	weft_time next;
	bool sent;

	if (virtual_is_sending(fabric, channel, now)) {
		virtual_arm(fabric, channel);
		return;
	}
	next = poll_sources(host, now);
	if (__builtin_expect(fabric->replay != NULL, 0)) {
		weft_time due = virtual_goal_poll(fabric, number, now);

		next = due < next ? due : next;
	}
	sent = inject(fabric, number, now);
	if (__builtin_expect(holds_transit(host), 0)) {
		weft_time due = itb_due(host->nic.itb, now);

		next = due < next ? due : next;
	}
	if (__builtin_expect(host->nic.recovery != NULL, 0)) {
		weft_time due = datagram_recovery_due(host->nic.recovery, now);

		next = due < next ? due : next;
	}
	if (__builtin_expect(host->nic.control != NULL, 0)) {
		weft_time due = datagram_control_due(&host->nic, now);

		/* If its time has passed, it is sent when the channel is free. */
		if (due < next && (sent || due > now))
			next = due;
	}
	if (__builtin_expect(host->nic.order != NULL, 0) && virtual_order_is_full(fabric))
		next = now + FULL_PS < next ? now + FULL_PS : next;
	/* A host that has nothing to send after this packet needs no event for the end of its
	 * transmission. */
	if (sent && (host->nic.waiting != 0 || holds_transit(host) || resends(host, now) ||
			    next <= channel->free_at || fabric->replay != NULL ||
			    (fabric->every_end && !fabric->foretells)))
		virtual_arm(fabric, channel);
	else
		virtual_host_wake_by(fabric, number, next);
}

void virtual_host_try(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	if (__builtin_expect(fabric->host[number].stream != NULL, 1))
		try_stream(fabric, number, now);
	else
		try_fifos(fabric, number, now);
}

static void grant(struct virtual_fabric *fabric, uint32_t number, unsigned vc, weft_time now)
{
	struct link_end *link = &fabric->host[number].nic.link;
	const struct virtual_tx *back = virtual_host_channel(fabric, number);

	if (!virtual_credit_due(fabric, &link->rx[vc]))
		return;
	if (__builtin_expect(back->foretells, 0))
		virtual_send_freed(
			fabric, &link->rx[vc], back, 0, vc, credit_ungranted(&link->rx[vc]), now);
	else
		virtual_send_credit(fabric, link, back, now);
}

/* A packet whose route cannot reach a host that accepts it would be retried forever. */
static bool is_lost(
	const struct virtual_fabric *fabric, uint32_t number, const struct weft_packet *packet)
{
	return fabric->host[number].nic.recovery == NULL ||
	       (packet->destination != number && (!itb_is_marked(packet) || !itb_is_route(packet)));
}

static void discard(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	if (!is_lost(fabric, number, packet)) {
		virtual_recovery_report(fabric, number, packet, now);
		return;
	}
	virtual_give_up(fabric, packet, now);
}

/* A packet for another host leaves the network and waits to be re-injected. */
static void host_absorb(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	weft_time took = bytes_ps(packet->bytes + FRAME_WIRE_OVERHEAD,
		virtual_host_channel(fabric, number)->byte_time);
	unsigned vc = packet->vc;
	bool kept = datagram_absorb(&fabric->host[number].nic, packet, now - took, now);

	if (!kept && fabric->watch != NULL && itb_is_marked(packet) && itb_is_route(packet))
		virtual_trace_refused(fabric, number, packet, now);
	grant(fabric, number, vc, now);
	if (kept)
		virtual_host_try(fabric, number, now);
	else
		discard(fabric, number, packet, now);
}

/* Some entries have flows. */
static void deliver_to_flow(
	struct virtual_fabric *fabric, const struct weft_packet *packet, weft_time now)
{
	struct measure_flow *flow = fabric->entry[packet->entry].flow;

	if (flow == NULL || (packet->flags & FRAME_F_TAIL) == 0)
		return;
	flow[packet->source].delivered++;
	flow[packet->source].last_ps = now;
}

/* The frame belongs to the host: measured and reported. 'held': it was counted when it arrived.
 * 'complete_ps': when all frames of its message up to this one had arrived. */
static inline __attribute__((always_inline)) void deliver(struct virtual_fabric *fabric,
	uint32_t number, struct weft_packet *packet, const bool held, weft_time complete_ps,
	weft_time now)
{
	const struct datagram_origin *origin = virtual_origin_of(fabric, packet);
	struct virtual_entry *entry = &fabric->entry[packet->entry];
	weft_time latency = now - origin->injected_ps;

	if (!held) {
		entry->wire_bytes += packet->bytes + fabric->counted_bytes;
		entry->latency_sum_ps += latency;
	}
	if (now >= fabric->measure_from) {
		if (!held)
			histogram_record(&entry->network_ns, ps_to_ns(latency));
		if (packet->flags & FRAME_F_TAIL)
			histogram_record(
				&entry->total_ns, ps_to_ns(complete_ps - origin->generated_ps));
	} else if (packet->flags & FRAME_F_TAIL) {
		entry->warm_messages++;
	}
	if (__builtin_expect(fabric->flows, 0))
		deliver_to_flow(fabric, packet, now);
	/* A sum does not depend on which of two hosts is looked at first. */
	fabric->fingerprint += rng_mix(now ^ (uint64_t)packet->source << 48 ^
				       (uint64_t)packet->destination << 32 ^ packet->sequence);
	if (__builtin_expect(fabric->replay != NULL, 0))
		virtual_goal_take(fabric, number, packet, now);
	virtual_give_packet(fabric, packet);
}

/* A frame that was given up before it was sent was never injected either. */
static void drop(struct virtual_fabric *fabric, struct weft_packet *packet)
{
	if (packet->stalled == DATAGRAM_WAIT_FIRST)
		fabric->unsent--;
	else
		fabric->dropped++;
	virtual_give_packet(fabric, packet);
}

/* Delivers frames that waited for the one that just arrived, or for one that will never arrive;
 * 'tail': that frame ended its message. */
static void release(
	struct virtual_fabric *fabric, uint32_t number, uint16_t source, bool tail, weft_time now)
{
	weft_time complete_ps =
		tail ? 0 : now; /* otherwise the following frames belong to the same message */
	struct weft_packet *packet;

	while ((packet = datagram_reorder_release(&fabric->host[number].nic, source, now)) !=
		NULL) {
		if (datagram_reorder_is_lost(packet)) {
			drop(fabric, packet);
			continue;
		}
		if (packet->arrived_ps > complete_ps)
			complete_ps = packet->arrived_ps;
		tail = (packet->flags & FRAME_F_TAIL) != 0;
		virtual_order_release(fabric, packet, complete_ps, now);
		deliver(fabric, number, packet, true, complete_ps, now);
		if (tail)
			complete_ps = 0;
	}
}

/* For fabrics where frames can overtake each other: delivers them in the order of their numbers. */
static __attribute__((noinline)) void arrive_out_of_order(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;
	enum datagram_arrival arrival = datagram_reorder_receive(nic, packet, now);
	uint16_t source = packet->source;
	bool tail;

	grant(fabric, number, packet->vc, now);
	if (arrival == DATAGRAM_REFUSED)
		discard(fabric, number, packet, now);
	if (arrival == DATAGRAM_HELD)
		virtual_order_hold(fabric, packet, now);
	if (arrival != DATAGRAM_DELIVERED)
		return;
	tail = (packet->flags & FRAME_F_TAIL) != 0;
	deliver(fabric, number, packet, false, now, now);
	release(fabric, number, source, tail, now);
}

void virtual_host_lose(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct weft_packet *packet = fabric->host[number].lost;
	uint16_t source = packet->source;

	fabric->host[number].lost = packet->next;
	if (!datagram_reorder_lose(&fabric->host[number].nic, packet, now))
		return;
	drop(fabric, packet);
	release(fabric, number, source, false, now);
}

/* Frames with equal times are ordered by source and number, independently of which of two switches
 * discarded first. */
static bool is_lost_before(const struct weft_packet *a, const struct weft_packet *b)
{
	if (a->arrived_ps != b->arrived_ps)
		return a->arrived_ps < b->arrived_ps;
	if (a->source != b->source)
		return a->source < b->source;
	return a->sequence < b->sequence;
}

void virtual_host_lose_at(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due)
{
	struct weft_packet **link = &fabric->host[packet->destination].lost;

	packet->arrived_ps = due;
	while (*link != NULL && is_lost_before(*link, packet))
		link = &(*link)->next;
	packet->next = *link;
	*link = packet;
	event_queue_push(fabric->events,
		(struct sim_event){
			due, virtual_host_order(fabric, packet->destination, VIRTUAL_WAKE), 1});
}

void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now)
{
	uint16_t to = packet->destination;
	weft_time due;

	virtual_forget_flows(fabric, packet);
	if (to >= fabric->hosts || fabric->host[to].nic.order == NULL) {
		drop(fabric, packet);
		return;
	}
	due = now + virtual_tx_cold(fabric, virtual_host_channel(fabric, to))->delay_ps;
	if (virtual_is_elsewhere(fabric, fabric->switches + to))
		partition_send_packet(fabric, packet, VIRTUAL_CROSSING_LOSS, due,
			virtual_host_order(fabric, to, VIRTUAL_WAKE));
	else
		virtual_host_lose_at(fabric, packet, due);
}

void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t number, struct weft_packet *packet, weft_time now)
{
	struct datagram *nic = &fabric->host[number].nic;

	packet->vc = packet->header_vc;
	if (__builtin_expect(packet->destination != number, 0)) {
		host_absorb(fabric, number, packet, now);
		return;
	}
	if (__builtin_expect(fabric->answers, 0))
		virtual_cn_answer(fabric, number, packet, now);
	if (__builtin_expect(nic->order != NULL, 0) && !datagram_reorder_is_kept(nic, packet)) {
		arrive_out_of_order(fabric, number, packet, now);
		return;
	}
	if (__builtin_expect(
		    !datagram_receive(nic, packet, virtual_origin_of(fabric, packet)), 0)) {
		grant(fabric, number, packet->vc, now);
		discard(fabric, number, packet, now);
		return;
	}
	grant(fabric, number, packet->vc, now);
	deliver(fabric, number, packet, false, now, now);
}

void virtual_host_done(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	virtual_host_channel(fabric, number)->armed = false;
	virtual_host_try(fabric, number, now);
}

void virtual_host_wake(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_host *host = &fabric->host[number];

	if (host->wake_at <= now)
		host->wake_at = WEFT_TIME_NEVER;
	virtual_host_try(fabric, number, now);
}

/* A notification arrived: the path of messages may now depend on their destination. Due messages
 * will be in the FIFO when the host next looks, as if they had always been there. */
static void leave_stream(struct virtual_host *host)
{
	if (host->stream == NULL || host->nic.marks == NULL)
		return;
	datagram_stream_close(&host->nic);
	traffic_turn_to_polling(host->stream);
	host->stream = NULL;
}

static __attribute__((noinline)) void hear(
	struct virtual_fabric *fabric, uint32_t number, uint32_t item, weft_time now)
{
	struct control_arn arn;

	if (virtual_is_cn(fabric, item)) {
		virtual_cn_arrive(fabric, number, now);
		return;
	}
	arn = virtual_take_arn(fabric, item);
	leave_stream(&fabric->host[number]);
	datagram_on_arn(&fabric->host[number].nic, &arn, now);
	virtual_host_try(fabric, number, now);
}

void virtual_host_credit(
	struct virtual_fabric *fabric, uint32_t number, uint32_t item, weft_time now)
{
	struct link_end *end = &fabric->host[number].nic.link;
	struct control_credit credit;

	if (__builtin_expect(virtual_is_arn(fabric, item), 0)) {
		hear(fabric, number, item, now);
		return;
	}
	if (item >= fabric->freed) {
		virtual_take_freed(fabric, item, end);
	} else {
		virtual_open_credit(fabric, item, end, &credit);
		link_end_on_credit(end, &credit, now);
	}
	if (fabric->host[number].stream != NULL &&
		virtual_host_channel(fabric, number)->blocked_since == WEFT_TIME_NEVER)
		return; /* the stream does not wait for credits */
	virtual_host_try(fabric, number, now);
}

/* For a link with a delay: events at one end do not depend on events at the other end at the same
 * time. */
static bool suits_stream(const struct virtual_fabric *fabric, uint32_t number)
{
	const struct virtual_host *host = &fabric->host[number];

	return (!fabric->every_end || fabric->foretells) && fabric->replay == NULL &&
	       host->sources == 1 && traffic_config(host->source[0])->queuing == NULL &&
	       virtual_host_channel(fabric, number)->arrive_ps > 0 &&
	       datagram_stream_suits(&host->nic);
}

void virtual_hosts_open(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++) {
		struct virtual_host *host = &fabric->host[i];

		if (!virtual_is_ours(fabric, fabric->switches + i) || !suits_stream(fabric, i))
			continue;
		host->stream = host->source[0];
		host->next_ps = traffic_due(host->stream);
		datagram_stream_open(&host->nic, traffic_config(host->stream)->sl,
			traffic_config(host->stream)->entry);
	}
}

bool virtual_hosts_failed(const struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (datagram_failed(&fabric->host[i].nic))
			return true;
	return false;
}

/* The time at which a message would find no room in a FIFO. */
static weft_time full_at(const struct virtual_host *host)
{
	return host->stream != NULL ? traffic_due_of(host->stream, host->nic.config.queue) : 0;
}

weft_time virtual_hosts_full_at(const struct virtual_fabric *fabric)
{
	weft_time last = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++) {
		weft_time at = full_at(&fabric->host[i]);

		last = at > last ? at : last;
	}
	return last;
}

void virtual_hosts_fill(struct virtual_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (fabric->host[i].stream != NULL)
			traffic_count(fabric->host[i].stream, full_at(&fabric->host[i]));
}
