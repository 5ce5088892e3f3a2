/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wormhole_net.h"

#include <errno.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "wire/frame.h"
#include "wormhole_net_private.h"

/* Width of an event queue bucket in phases of cycles: a few events in a busy network. */
#define BUCKET 64

/* Bits for the kind of an event and for its item. */
#define ORDER_BITS 3
#define ITEM_BITS  32

/* Limited by the list of runs (struct wormhole_runs) and by a byte. */
#define DELAY_MAX 250

static uint64_t delay_cycles(
	const struct topology_link *link, const struct wormhole_parameters *parameters)
{
	uint64_t cycles = (link->delay_ps + parameters->cycle_ps - 1) / parameters->cycle_ps;

	return cycles > 0 ? cycles : 1;
}

static int check_link(const struct topology *topology, const struct topology_link *link,
	const struct wormhole_parameters *parameters, struct error *error)
{
	const struct stop_go_marks *marks = &parameters->marks;
	uint64_t delay = delay_cycles(link, parameters);
	char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8];
	char rate[QUANTITY_TEXT], time[QUANTITY_TEXT];

	quantity_format(QUANTITY_RATE, link->rate_bps, rate);
	quantity_format(QUANTITY_TIME, link->delay_ps, time);
	topology_port_name(topology, link->a, a, sizeof(a));
	topology_port_name(topology, link->b, b, sizeof(b));
	if (ps_per_byte(link->rate_bps) != parameters->cycle_ps)
		return error_set(error, EINVAL,
			"link %s - %s of %s: a byte takes %llu ps; wormhole switching needs the same rate for all links, %llu ps per byte",
			a, b, rate, (unsigned long long)ps_per_byte(link->rate_bps),
			(unsigned long long)parameters->cycle_ps);
	if (delay > DELAY_MAX)
		return error_set(error, EINVAL,
			"link %s - %s of %s and %s: the delay is %llu flits; at most %u are "
			"allowed",
			a, b, rate, time, (unsigned long long)delay, DELAY_MAX);
	if (!stop_go_never_over(marks, delay))
		return error_set(error, EINVAL,
			"link %s - %s of %s and %s: %llu flits are in flight; a buffer of %u "
			"flits with STOP above %u and GO below %u would overflow; use go <= stop "
			"and stop + 2 * %llu <= buffer",
			a, b, rate, time, (unsigned long long)delay, marks->slack, marks->stop,
			marks->go, (unsigned long long)delay);
	if (!stop_go_never_empty(marks, delay))
		return error_set(error, EINVAL,
			"link %s - %s of %s and %s: %llu flits are in flight; with GO below %u a "
			"buffer would run empty within a message; use go of at least %llu",
			a, b, rate, time, (unsigned long long)delay, marks->go,
			2 * (unsigned long long)delay + 2);
	return 0;
}

int wormhole_net_check_links(const struct topology *topology,
	const struct wormhole_parameters *parameters, struct error *error)
{
	int result = 0;

	if (parameters->cycle_ps == 0 || parameters->routing_cycles == 0 ||
		parameters->detection_cycles + parameters->programming_cycles == 0)
		return error_set(error, EINVAL,
			"wormhole switching: the routing delay and the ITB delay must "
			"each be one cycle or more");
	for (uint32_t i = 0; i < topology->links && result == 0; i++)
		result = check_link(topology, &topology->link_at[i], parameters, error);
	return result;
}

static uint32_t channel_of(const struct wormhole_net *net, struct topology_port port)
{
	if (port.kind == DEVICE_HOST)
		return net->first_host_channel + port.device;
	return net->first_channel[port.device] + port.port;
}

static void join(struct wormhole_net *net, struct topology_port from, struct topology_port to,
	uint64_t delay)
{
	uint32_t number = channel_of(net, from);
	struct wormhole_channel *channel = &net->channel[number];

	net->sender[number] = from;
	channel->delay = (uint8_t)delay;
	channel->to_device = to.device;
	channel->to_port = to.port;
	channel->back = channel_of(net, to);
	if (to.kind == DEVICE_SWITCH)
		channel->to_channel = net->first_channel[to.device];
}

static void join_all(struct wormhole_net *net)
{
	for (uint32_t i = 0; i < net->topology->links; i++) {
		const struct topology_link *link = &net->topology->link_at[i];
		uint64_t delay = delay_cycles(link, &net->parameters);

		join(net, link->a, link->b, delay);
		join(net, link->b, link->a, delay);
	}
}

/* Returns the number of entries of 'earlier' for a link of 'delay' cycles, a power of two up to
 * 256. Runs are at least a cycle apart. */
static unsigned wormhole_runs_kept(unsigned delay)
{
	unsigned kept = 2;

	while (kept < delay / 2 + 3)
		kept *= 2;
	return kept;
}

static unsigned runs_kept(const struct wormhole_net *net)
{
	unsigned max = 1;

	for (uint32_t i = 0; i < net->topology->links; i++) {
		uint64_t delay = delay_cycles(&net->topology->link_at[i], &net->parameters);

		if (delay > max)
			max = (unsigned)delay;
	}
	return wormhole_runs_kept(max);
}

static int create_channels(struct wormhole_net *net)
{
	const struct topology *topology = net->topology;
	unsigned kept = runs_kept(net);

	net->first_channel = calloc(topology->switches + 1u, sizeof(*net->first_channel));
	if (net->first_channel == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->switches; i++)
		net->first_channel[i + 1] = net->first_channel[i] + topology->switch_at[i].ports;
	net->first_host_channel = net->first_channel[topology->switches];
	net->channels = net->first_host_channel + topology->hosts;
	net->channel = calloc(net->channels + 1u, sizeof(*net->channel));
	net->sender = calloc(net->channels + 1u, sizeof(*net->sender));
	net->runs = calloc((size_t)net->channels * kept + 1, sizeof(*net->runs));
	net->asked.at = calloc(net->channels + 1u, sizeof(*net->asked.at));
	net->arrived.at = calloc(net->channels + 1u, sizeof(*net->arrived.at));
	if (net->channel == NULL || net->sender == NULL || net->runs == NULL ||
		net->asked.at == NULL || net->arrived.at == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->channels; i++) {
		struct wormhole_channel *channel = &net->channel[i];

		channel->holder = channel->from = channel->to_channel = channel->back =
			WORMHOLE_NONE;
		channel->head = channel->waiting = channel->last = channel->out = WORMHOLE_NONE;
		channel->tail_at = channel->level_at = WORMHOLE_NEVER;
		channel->runs.earlier = &net->runs[(size_t)i * kept];
		channel->runs.mask = (uint8_t)(kept - 1);
	}
	join_all(net);
	return 0;
}

static int create_hosts(struct wormhole_net *net)
{
	net->host = calloc(net->topology->hosts + 1u, sizeof(*net->host));
	net->message_room = 1024;
	net->message = malloc(net->message_room * sizeof(*net->message));
	net->free_message = WORMHOLE_NONE;
	net->events = event_queue_create(BUCKET, ORDER_BITS, ITEM_BITS);
	if (net->host == NULL || net->message == NULL || net->events == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < net->topology->hosts; i++) {
		itb_pool_init(&net->host[i].pool, net->parameters.itb_pool_bytes);
		net->host[i].wake_at = WORMHOLE_NEVER;
		net->host[i].transit = WORMHOLE_NONE;
		if (net->topology->host_link[i] >= 0)
			wormhole_ask(net, net->first_host_channel + i, 0);
	}
	return 0;
}

struct wormhole_net *wormhole_net_create(const struct topology *topology,
	const struct wormhole_parameters *parameters, const struct wormhole_ops *ops, void *ctx,
	struct error *error)
{
	struct wormhole_net *net;
	int result = wormhole_net_check_links(topology, parameters, error);

	if (result < 0) {
		errno = -result;
		return NULL;
	}
	net = calloc(1, sizeof(*net));
	if (net != NULL) {
		net->topology = topology;
		net->parameters = *parameters;
		net->ops = ops;
		net->ctx = ctx;
		net->grant_cycles = parameters->routing_cycles;
		if (parameters->routed_before_grant) {
			net->grant_cycles = 1;
			net->request_cycles = parameters->routing_cycles - 1;
		}
		if (create_channels(net) == 0 && create_hosts(net) == 0)
			return net;
	}
	wormhole_net_destroy(net);
	error_set(error, ENOMEM, "not enough memory for a wormhole network");
	errno = ENOMEM;
	return NULL;
}

void wormhole_net_destroy(struct wormhole_net *net)
{
	if (net == NULL)
		return;
	free(net->first_channel);
	free(net->channel);
	free(net->sender);
	free(net->runs);
	free(net->asked.at);
	free(net->arrived.at);
	free(net->host);
	free(net->message);
	event_queue_destroy(net->events);
	free(net);
}

void wormhole_net_halt(struct wormhole_net *net)
{
	net->halted = true;
}

bool wormhole_net_failed(const struct wormhole_net *net)
{
	return net->failed;
}

uint64_t wormhole_net_now(const struct wormhole_net *net)
{
	return net->now;
}

struct wormhole_host_counters wormhole_net_host(const struct wormhole_net *net, uint32_t number)
{
	const struct wormhole_host *host = &net->host[number];
	struct wormhole_host_counters count = {.absorbed = host->absorbed,
		.discarded = host->pool.overflows,
		.pool_peak_bytes = host->pool.peak};

	for (uint32_t i = host->transit; i != WORMHOLE_NONE; i = net->message[i].next)
		count.in_transit++;
	return count;
}

struct wormhole_counters wormhole_net_counters(const struct wormhole_net *net)
{
	struct wormhole_counters count = net->count;

	for (uint32_t i = 0; i < net->topology->hosts; i++)
		if (net->host[i].pool.peak > count.pool_peak_bytes)
			count.pool_peak_bytes = net->host[i].pool.peak;
	return count;
}

uint64_t wormhole_net_under_way(const struct wormhole_net *net)
{
	return net->count.taken - net->count.delivered - net->count.discarded;
}

uint64_t wormhole_net_carried(const struct wormhole_net *net, struct topology_port sender)
{
	uint64_t last = net->now > 0 ? net->now - 1 : 0;

	return wormhole_runs_by(&net->channel[channel_of(net, sender)].runs, last);
}

uint64_t wormhole_net_stopped(const struct wormhole_net *net, struct topology_port sender)
{
	const struct wormhole_channel *channel = &net->channel[channel_of(net, sender)];
	uint64_t cycles = channel->stopped_cycles;

	if (channel->stopped && net->now > channel->stopped_at)
		cycles += net->now - channel->stopped_at;
	return cycles;
}

uint64_t wormhole_runs_back(const struct wormhole_runs *runs, uint64_t at)
{
	uint64_t total = runs->run.before;

	for (unsigned i = 0; i <= runs->mask; i++) {
		const struct wormhole_run *run = &runs->earlier[(runs->last - i) & runs->mask];

		if (at >= run->start) {
			uint64_t emitted = run->before + (at - run->start) + 1;

			return emitted < total ? emitted : total;
		}
		total = run->before;
	}
	return total;
}

uint64_t wormhole_runs_cycle_back(const struct wormhole_runs *runs, uint64_t total)
{
	const struct wormhole_run *run = &runs->run;

	for (unsigned i = 0; i <= runs->mask && total <= run->before; i++)
		run = &runs->earlier[(runs->last - i) & runs->mask];
	return run->start + (total - run->before) - 1;
}

void wormhole_runs_begin(struct wormhole_runs *runs, uint64_t start)
{
	uint64_t length = runs->total - runs->run.before;

	runs->on = true;
	if (length > 0 && runs->run.start + length == start)
		return;
	if (length > 0) {
		runs->last = (uint8_t)((runs->last + 1) & runs->mask);
		runs->earlier[runs->last] = runs->run;
	}
	runs->run = (struct wormhole_run){start, runs->total};
}
