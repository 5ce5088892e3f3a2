/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "wire/frame.h"
#include "wormhole_net_private.h"

static bool leads_to_host(const struct wormhole_channel *channel)
{
	return channel->to_channel == WORMHOLE_NONE;
}

void wormhole_launch(struct wormhole_net *net, uint32_t number, uint64_t start)
{
	struct wormhole_channel *channel = &net->channel[number];
	struct wormhole_message *message = &net->message[channel->holder];
	uint64_t sent = channel->runs.total - channel->base;

	wormhole_runs_begin(&channel->runs, start);
	channel->tail_at = start + (message->bytes - sent) - 1;
	wormhole_push(net, channel->tail_at, WORMHOLE_EMISSION, WORMHOLE_TAIL, number);
	if (sent > 0)
		return;
	if (message->itbs == 0 && wormhole_is_host_channel(net, number))
		message->started = start;
	message->header_at = start + channel->delay;
	message->announced = !leads_to_host(channel) || *message->route == ROUTE_TYPE_ITB;
	if (message->announced)
		wormhole_push(net, message->header_at, WORMHOLE_ARRIVAL, WORMHOLE_HEADER,
			channel->holder);
}

/* Requests the output of the buffer's first message, to be granted in 'cycle' at the earliest. */
static void wormhole_request(struct wormhole_net *net, uint32_t number, uint64_t cycle)
{
	const struct wormhole_channel *buffer = &net->channel[number];
	const struct wormhole_message *message = &net->message[buffer->head];
	uint32_t out = buffer->to_channel + (*message->route & ROUTE_PORT_MASK);

	net->channel[out].request |= UINT64_C(1) << buffer->to_port;
	wormhole_ask(net, out, cycle);
}

/* Call when the buffer has a new first message, from 'cycle' on. The message requests its output
 * immediately or after it has been routed. */
static void become_first(struct wormhole_net *net, uint32_t number, uint64_t cycle)
{
	if (net->request_cycles == 0)
		wormhole_request(net, number, cycle);
	else
		wormhole_push(net, cycle + net->request_cycles, WORMHOLE_ARRIVAL, WORMHOLE_ROUTED,
			number);
}

static void enter_buffer(struct wormhole_net *net, uint32_t number, uint32_t message, uint64_t now)
{
	struct wormhole_channel *buffer = &net->channel[number];

	net->message[message].next = WORMHOLE_NONE;
	if (buffer->head == WORMHOLE_NONE) {
		buffer->head = message;
		become_first(net, number, now);
	} else if (buffer->waiting == WORMHOLE_NONE) {
		buffer->waiting = buffer->last = message;
	} else {
		net->message[buffer->last].next = message;
		buffer->last = message;
	}
	wormhole_note_arrival(net, number, now);
}

static void free_message(struct wormhole_net *net, uint32_t number)
{
	net->message[number].bytes = 0;
	net->message[number].announced = false;
	net->message[number].next = net->free_message;
	net->free_message = number;
}

/* Absorbs a message if it fits completely into the pool. Otherwise the message is discarded while
 * it arrives. */
static void absorb(struct wormhole_net *net, uint32_t number, uint32_t which, uint64_t now)
{
	struct wormhole_message *message = &net->message[which];
	struct wormhole_host *host = &net->host[number];

	if (!itb_pool_take(&host->pool, message->bytes)) {
		message->discarded = true;
		net->count.discarded++;
		net->ops->discarded(net->ctx, message, now);
		if (net->channel[message->channel].holder != which)
			free_message(net, which);
		return;
	}
	message->itbs++;
	message->in_transit = true;
	net->count.absorbed++;
	host->absorbed++;
	message->next = WORMHOLE_NONE;
	if (host->transit == WORMHOLE_NONE)
		host->transit = which;
	else
		net->message[host->last].next = which;
	host->last = which;
	if (host->transit == which)
		wormhole_ask(net, net->first_host_channel + number, now);
}

static void on_header(struct wormhole_net *net, uint32_t which, uint64_t now)
{
	struct wormhole_message *message = &net->message[which];
	const struct wormhole_channel *channel = &net->channel[message->channel];

	if (!message->announced || message->header_at != now)
		return;
	message->announced = false;
	if (leads_to_host(channel))
		absorb(net, channel->to_device, which, now);
	else
		enter_buffer(net, message->channel, which, now);
}

static void leave_buffer(struct wormhole_net *net, uint32_t number, uint32_t bytes, uint64_t now)
{
	struct wormhole_channel *buffer = &net->channel[number];

	buffer->drained += bytes;
	buffer->out = WORMHOLE_NONE;
	buffer->head = buffer->waiting;
	if (buffer->head != WORMHOLE_NONE) {
		buffer->waiting = net->message[buffer->head].next;
		become_first(net, number, now + 1);
	}
	if (!buffer->stop_sent)
		wormhole_predict(net, number, now);
}

static void end_at_host(struct wormhole_net *net, uint32_t number, uint32_t which, uint64_t now)
{
	struct wormhole_message *message = &net->message[which];

	/* The header was absorbed at the host and has already been re-injected. */
	if (message->channel != number)
		return;
	if (message->discarded) {
		free_message(net, which);
		return;
	}
	if (*message->route == ROUTE_TYPE_ITB)
		return;
	net->count.delivered++;
	net->ops->delivered(net->ctx, message, now + net->channel[number].delay + 1);
	free_message(net, which);
}

static void leave_host(struct wormhole_net *net, uint32_t number, uint32_t which, uint64_t now)
{
	const struct wormhole_message *message = &net->message[which];

	const struct wormhole_channel *channel = &net->channel[number];

	if (channel->transit)
		itb_pool_give(&net->host[number - net->first_host_channel].pool, message->bytes);
	else if (net->ops->sent != NULL)
		net->ops->sent(net->ctx, message, channel->start_at, now);
}

static void on_tail(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *channel = &net->channel[number];
	uint32_t which = channel->holder;

	if (channel->tail_at != now)
		return;
	channel->tail_at = WORMHOLE_NEVER;
	wormhole_runs_end(&channel->runs, now + 1);
	channel->holder = WORMHOLE_NONE;
	net->count.channels_passed++;
	if (wormhole_is_host_channel(net, number))
		leave_host(net, number, which, now);
	else
		leave_buffer(net, channel->from, net->message[which].bytes, now);
	wormhole_ask(net, number, now + 1);
	if (leads_to_host(channel))
		end_at_host(net, number, which, now);
	else if (channel->stop_sent)
		wormhole_predict(net, number, now);
}

/* Call when a run of the channel changes at a time that was not predicted. */
static void predict_both(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	const struct wormhole_channel *channel = &net->channel[number];

	wormhole_predict(net, number, now);
	if (!wormhole_is_host_channel(net, number))
		wormhole_predict(net, channel->from, now);
}

/* Cancels the start of the holder, whose first flit has not been sent. */
static void take_back(struct wormhole_net *net, const struct wormhole_channel *channel)
{
	struct wormhole_message *message = &net->message[channel->holder];

	message->announced = false;
	message->header_at = WORMHOLE_NEVER;
	if (message->itbs == 0 && channel->from == WORMHOLE_NONE)
		message->started = WORMHOLE_NEVER;
}

static void on_stop(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *channel = &net->channel[number];

	channel->stopped = true;
	channel->stopped_at = now;
	if (!channel->runs.on)
		return;
	wormhole_runs_end(&channel->runs, now);
	channel->tail_at = WORMHOLE_NEVER;
	if (channel->runs.total == channel->base)
		take_back(net, channel);
	predict_both(net, number, now);
}

static void on_go(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *channel = &net->channel[number];

	channel->stopped = false;
	channel->stopped_cycles += now - channel->stopped_at;
	if (channel->holder == WORMHOLE_NONE)
		return;
	wormhole_launch(net, number, now > channel->start_at ? now : channel->start_at);
	predict_both(net, number, now);
}

static void on_wake(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	if (net->host[number].wake_at != now)
		return;
	net->host[number].wake_at = WORMHOLE_NEVER;
	wormhole_ask(net, net->first_host_channel + number, now);
}

static void step(struct wormhole_net *net, const struct sim_event *event)
{
	uint64_t now = WORMHOLE_CYCLE(event->at);

	net->count.events++;
	switch ((enum wormhole_event)event->order) {
	case WORMHOLE_HEADER:
		on_header(net, event->item, now);
		return;
	case WORMHOLE_TAIL:
		on_tail(net, event->item, now);
		return;
	case WORMHOLE_LEVEL:
		wormhole_check_level(net, event->item, now);
		return;
	case WORMHOLE_WAKE:
		on_wake(net, event->item, now);
		return;
	case WORMHOLE_STOP:
		on_stop(net, event->item, now);
		return;
	case WORMHOLE_GO:
		on_go(net, event->item, now);
		return;
	case WORMHOLE_ROUTED:
		wormhole_request(net, event->item, now);
		return;
	}
}

/* Decisions of a cycle are made after all arrivals and before any emission. */
static bool next_event(struct wormhole_net *net, weft_time limit, struct sim_event *event)
{
	while (net->asked.count + net->arrived.count > 0) {
		weft_time before = WORMHOLE_AT(net->decide, WORMHOLE_EMISSION);

		if (before > limit)
			break;
		if (event_queue_pop(net->events, before, event))
			return true;
		if (event_queue_failed(net->events))
			return false;
		net->now = net->decide;
		wormhole_decide(net);
	}
	return event_queue_pop(net->events, limit, event);
}

bool wormhole_net_run(struct wormhole_net *net, uint64_t until)
{
	struct sim_event event;

	net->halted = false;
	while (!net->halted && !net->failed &&
		next_event(net, WORMHOLE_AT(until, WORMHOLE_SIGNAL), &event)) {
		net->now = WORMHOLE_CYCLE(event.at);
		step(net, &event);
	}
	net->failed = net->failed || event_queue_failed(net->events);
	if (net->halted || net->failed)
		return !net->failed;
	net->now = until;
	return !event_queue_is_empty(net->events) || net->asked.count + net->arrived.count > 0;
}
