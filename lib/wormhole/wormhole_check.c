/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>

#include "wire/frame.h"
#include "wormhole_net_private.h"

static int refuse_route(const struct wormhole_net *net, uint32_t source, uint32_t destination,
	unsigned at, const char *what, struct error *error)
{
	return error_set(error, EINVAL, "route from %s to %s, element %u: %s",
		net->topology->host_at[source].name, net->topology->host_at[destination].name, at,
		what);
}

/* Returns the output channel that an element selects at the far end of this channel; none if the
 * element is invalid there. */
static uint32_t next_channel(const struct wormhole_net *net, uint32_t number, uint8_t element)
{
	const struct wormhole_channel *channel = &net->channel[number];
	unsigned port = element & ROUTE_PORT_MASK;
	uint32_t next;

	if (channel->to_channel == WORMHOLE_NONE)
		return element == ROUTE_TYPE_ITB ? net->first_host_channel + channel->to_device
						 : WORMHOLE_NONE;
	if ((element & ROUTE_PORT_BIT) == 0 ||
		port >= net->topology->switch_at[channel->to_device].ports)
		return WORMHOLE_NONE;
	next = channel->to_channel + port;
	return net->channel[next].back != WORMHOLE_NONE ? next : WORMHOLE_NONE;
}

int wormhole_net_check_route(const struct wormhole_net *net, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length, struct error *error)
{
	uint32_t at = net->first_host_channel + source;
	const struct wormhole_channel *last;

	if (length == 0 || net->channel[at].back == WORMHOLE_NONE)
		return refuse_route(net, source, destination, 0,
			"it is empty, or the source has no link", error);
	for (unsigned i = 0; i + 1 < length; i++) {
		if (route[i] == ROUTE_TYPE_STEP || route_is_layer(route[i]))
			return refuse_route(net, source, destination, i,
				"wormhole switches do not support 'next step' or layers", error);
		at = next_channel(net, at, route[i]);
		if (at == WORMHOLE_NONE)
			return refuse_route(net, source, destination, i,
				"it cannot continue from there", error);
	}
	last = &net->channel[at];
	if (route[length - 1] == ROUTE_TYPE_HOST && last->to_channel == WORMHOLE_NONE &&
		last->to_device == destination)
		return 0;
	return refuse_route(
		net, source, destination, length - 1, "it does not end at that host", error);
}

/* Returns the channel for which this one waits; none if this one can still advance. A channel is
 * stuck only if its sender is stopped and its buffer has not sent GO. */
static uint32_t waits_for(const struct wormhole_net *net, uint32_t number)
{
	const struct wormhole_channel *channel = &net->channel[number], *out;
	uint32_t next;

	if (!channel->stopped || !channel->stop_sent || channel->head == WORMHOLE_NONE)
		return WORMHOLE_NONE;
	next = channel->out;
	if (next == WORMHOLE_NONE)
		next = channel->to_channel + (*net->message[channel->head].route & ROUTE_PORT_MASK);
	out = &net->channel[next];
	return out->stopped && out->stop_sent && out->holder != WORMHOLE_NONE ? next
									      : WORMHOLE_NONE;
}

/* Each channel waits for at most one other, so the walk ends or enters a cycle. After as many steps
 * as there are channels it is in the cycle. */
unsigned wormhole_net_deadlock(
	const struct wormhole_net *net, struct topology_port *cycle, unsigned room)
{
	for (uint32_t first = 0; first < net->channels; first++) {
		uint32_t at = first, in;
		unsigned count = 0;

		for (uint32_t i = 0; i < net->channels && at != WORMHOLE_NONE; i++)
			at = waits_for(net, at);
		if (at == WORMHOLE_NONE)
			continue;
		in = at;
		do {
			if (count < room)
				cycle[count] = net->sender[at];
			count++;
			at = waits_for(net, at);
		} while (at != in);
		return count;
	}
	return 0;
}

static const char *check_buffer(const struct wormhole_net *net, uint32_t number)
{
	const struct wormhole_channel *buffer = &net->channel[number];
	uint64_t level;

	if (net->now == 0 || buffer->to_channel == WORMHOLE_NONE)
		return NULL;
	level = wormhole_level(net, buffer, net->now - 1);
	if (level > UINT32_MAX)
		return "more flits left a buffer than entered it";
	if (level > net->parameters.marks.slack)
		return "a buffer holds more flits than its size";
	if (buffer->head == WORMHOLE_NONE && level > 0)
		return "a buffer holds flits of no message";
	return NULL;
}

static const char *check_pool(const struct wormhole_net *net, uint32_t number)
{
	const struct wormhole_host *host = &net->host[number];
	const struct wormhole_channel *channel = &net->channel[net->first_host_channel + number];
	uint64_t bytes = 0;

	for (uint32_t i = host->transit; i != WORMHOLE_NONE; i = net->message[i].next)
		bytes += net->message[i].bytes;
	if (channel->holder != WORMHOLE_NONE && channel->transit)
		bytes += net->message[channel->holder].bytes;
	return bytes == host->pool.used ? NULL
					: "a pool's contents differ from the messages in transit";
}

const char *wormhole_net_check(const struct wormhole_net *net)
{
	uint64_t live = 0;
	const char *wrong = NULL;

	for (uint32_t i = 0; i < net->messages; i++)
		live += net->message[i].bytes > 0 && !net->message[i].discarded;
	if (live != wormhole_net_under_way(net))
		return "messages are not conserved";
	for (uint32_t i = 0; i < net->channels && wrong == NULL; i++)
		wrong = check_buffer(net, i);
	for (uint32_t i = 0; i < net->topology->hosts && wrong == NULL; i++)
		wrong = check_pool(net, i);
	return wrong;
}
