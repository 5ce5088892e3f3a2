/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The decisions of a cycle: outputs of switches choose among their inputs, and hosts among their
 * messages. All arrivals of the cycle take part. */

#include <stdlib.h>

#include "wormhole_net_private.h"

void wormhole_ask(struct wormhole_net *net, uint32_t number, uint64_t cycle)
{
	struct wormhole_channel *channel = &net->channel[number];

	net->decide = cycle;
	if (channel->asked || channel->holder != WORMHOLE_NONE)
		return;
	channel->asked = true;
	net->asked.at[net->asked.count++] = number;
}

void wormhole_note_arrival(struct wormhole_net *net, uint32_t buffer, uint64_t cycle)
{
	net->decide = cycle;
	net->arrived.at[net->arrived.count++] = buffer;
}

static unsigned round_robin(const struct wormhole_channel *out)
{
	uint64_t after = out->request & ~UINT64_C(0) << out->next;

	return (unsigned)__builtin_ctzll(after != 0 ? after : out->request);
}

static void grant(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_channel *out = &net->channel[number], *buffer;
	unsigned port = round_robin(out);

	out->request &= ~(UINT64_C(1) << port);
	out->next = (uint8_t)((port + 1) & 63);
	out->from = net->channel[net->channel[out->back].to_channel + port].back;
	buffer = &net->channel[out->from];
	buffer->out = number;
	out->holder = buffer->head;
	out->base = out->runs.total;
	out->start_at = now + net->grant_cycles;
	net->message[out->holder].channel = number;
	net->message[out->holder].route++;
	if (!out->stopped)
		wormhole_launch(net, number, out->start_at);
	if (buffer->stop_sent)
		wormhole_predict(net, out->from, now);
}

static uint32_t new_message(struct wormhole_net *net)
{
	uint32_t number = net->free_message;

	if (number != WORMHOLE_NONE) {
		net->free_message = net->message[number].next;
		return number;
	}
	if (net->messages == net->message_room) {
		size_t room = 2 * (size_t)net->message_room;
		void *larger = room > WORMHOLE_NONE
				       ? NULL
				       : realloc(net->message, room * sizeof(*net->message));

		if (larger == NULL) {
			net->failed = true;
			return WORMHOLE_NONE;
		}
		net->message = larger;
		net->message_room = (uint32_t)room;
	}
	return net->messages++;
}

static void hold(
	struct wormhole_net *net, uint32_t host, uint32_t message, bool transit, uint64_t start)
{
	uint32_t number = net->first_host_channel + host;
	struct wormhole_channel *out = &net->channel[number];

	out->transit = transit;
	out->holder = message;
	out->base = out->runs.total;
	out->start_at = start;
	net->message[message].channel = number;
	if (!out->stopped)
		wormhole_launch(net, number, start);
}

/* Returns false if the first message could not be taken and the caller must try again. */
static bool send_own(struct wormhole_net *net, uint32_t host, uint64_t now)
{
	struct wormhole_offer offer;
	uint32_t number;

	if (!net->ops->take(net->ctx, host, now, &offer))
		return false;
	number = new_message(net);
	if (number == WORMHOLE_NONE)
		return true;
	net->message[number] = (struct wormhole_message){
		.route = offer.route,
		.generated = offer.generated,
		.started = WORMHOLE_NEVER,
		.header_at = WORMHOLE_NEVER,
		.bytes = offer.bytes,
		.tag = offer.tag,
		.source = (uint16_t)host,
		.destination = offer.destination,
		.choice = offer.choice,
		.entry = offer.entry,
	};
	net->count.taken++;
	itb_share_sent_own(&net->host[host].turn);
	hold(net, host, number, false, now);
	return true;
}

static void send_in_transit(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_host *host = &net->host[number];
	uint32_t message = host->transit;

	host->transit = net->message[message].next;
	net->message[message].in_transit = false;
	net->message[message].header_at = WORMHOLE_NEVER;
	net->message[message].route++;
	itb_share_sent_in_transit(&host->turn);
	hold(net, number, message, true, now + net->parameters.programming_cycles);
}

static uint64_t transit_due(const struct wormhole_net *net, const struct wormhole_host *host)
{
	if (host->transit == WORMHOLE_NONE)
		return WORMHOLE_NEVER;
	return net->message[host->transit].header_at + net->parameters.detection_cycles;
}

static void choose(struct wormhole_net *net, uint32_t number, uint64_t now)
{
	struct wormhole_host *host = &net->host[number];
	uint64_t transit = transit_due(net, host), own = net->ops->due(net->ctx, number, now);

	while (own <= now) {
		if (transit <= now &&
			!itb_share_is_own(&host->turn, net->ops->waiting(net->ctx, number, now)))
			break;
		if (send_own(net, number, now))
			return;
		own = net->ops->due(net->ctx, number, now);
	}
	if (transit <= now) {
		send_in_transit(net, number, now);
		return;
	}
	if (transit < own)
		own = transit;
	if (own < host->wake_at) {
		host->wake_at = own;
		wormhole_push(net, own, WORMHOLE_ARRIVAL, WORMHOLE_WAKE, number);
	}
}

void wormhole_decide(struct wormhole_net *net)
{
	uint64_t now = net->decide;

	for (uint32_t i = 0; i < net->asked.count; i++) {
		uint32_t number = net->asked.at[i];
		struct wormhole_channel *channel = &net->channel[number];

		channel->asked = false;
		if (wormhole_is_host_channel(net, number))
			choose(net, number - net->first_host_channel, now);
		else if (channel->request != 0)
			grant(net, number, now);
	}
	net->asked.count = 0;
	for (uint32_t i = 0; i < net->arrived.count; i++)
		if (!net->channel[net->arrived.at[i]].stop_sent)
			wormhole_predict(net, net->arrived.at[i], now);
	net->arrived.count = 0;
}
