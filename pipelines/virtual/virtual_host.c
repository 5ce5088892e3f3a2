/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Hosts of a virtual fabric send due messages as their interface permits. */

#include "virtual_dispatch.h"

#include "nic/datagram/datagram_control.h"
#include "nic/datagram/datagram_stream.h"
#include "virtual_control.h"
#include "virtual_partitions.h"
#include "virtual_send.h"

/* Retry interval of a host that must not send because too many frames wait for reordering. */
#define FULL_PS PS_PER_US

/* Queues as many due messages as the interface accepts. Returns when the next one is due. */
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
			/* One of thousands of numbers; prefetched for its later use. */
			host->next_destination = traffic_next_destination(source);
			__builtin_prefetch(
				datagram_sent_place(&host->nic, host->next_destination), 1);
			due = traffic_due(source);
		}
		/* A full queue is retried when a frame has left. The due message may belong to a
		 * different queue: never return a time in the past. */
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

/* Sends a discarded packet again; such packets precede new ones. */
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
	/* The packet counts against the flow's rate but is not delayed by it. */
	if (fabric->pauses != NULL && nic->control != NULL)
		datagram_control_resent(nic, packet, now);
	virtual_start(fabric, channel, packet, now);
	return true;
}

/* Returns true if a new frame must wait for a cut cable. */
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
			/* Paused messages do not wait for credits. */
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

/* Takes the stream's next message if it is due. */
static bool take_message(struct virtual_host *host, weft_time now)
{
	struct traffic_taken taken;

	while (host->next_ps <= now && traffic_take(host->stream, now, &taken)) {
		host->next_ps = taken.next_ps;
		/* One of thousands of numbers, so prefetched for later use. */
		host->next_destination = taken.next_destination;
		__builtin_prefetch(datagram_sent_place(&host->nic, host->next_destination), 1);
		if (datagram_stream_begin(&host->nic, taken.message.destination,
			    taken.message.bytes, taken.message.generated_ps, now))
			return true;
	}
	return false;
}

/* Sends the stream's frames. Continues when the next message is due or the channel is free or,
 * without credits, with the next credit frame. */
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

/* Sends frames from FIFOs, or frames in transit. */
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

		/* Overdue frames are sent when the channel is free. */
		if (due < next && (sent || due > now))
			next = due;
	}
	if (__builtin_expect(host->nic.order != NULL, 0) && virtual_order_is_full(fabric))
		next = now + FULL_PS < next ? now + FULL_PS : next;
	/* Without further frames to send, the end of this transmission needs no event. */
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

/* After a notification, the path of messages may depend on their destination. Due messages will be
 * in the FIFO at the host's next turn, as if they had always been there. */
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
		return; /* the stream is not waiting for credits */
	virtual_host_try(fabric, number, now);
}

/* The link must have a delay: events at one end do not depend on simultaneous ones at the other. */
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

/* Returns when a message would find its FIFO full. */
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
