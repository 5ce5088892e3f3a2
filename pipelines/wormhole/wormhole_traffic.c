/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Traffic and route selection of the hosts of a wormhole fabric. */

#include <errno.h>
#include <stdlib.h>

#include "experiment/workload/run_source.h"
#include "setup/device_config.h"
#include "wormhole_fabric_private.h"

static int add_source(struct wormhole_fabric *fabric, uint32_t number, uint32_t which,
	const struct run_source_place *place, struct error *error)
{
	struct wormhole_source *host = &fabric->host[number];
	struct traffic_config config;
	uint16_t *list;
	int result = run_source_config(fabric->run, fabric->traffic, which, place, &config, &list);

	config.frame_bytes = fabric->run->nic.mtu_bytes;
	config.index = (uint16_t)host->sources;
	if (result == 0) {
		host->source[host->sources] = traffic_create(&config, error);
		result = host->source[host->sources] == NULL ? -EINVAL : 0;
		host->sources += result == 0;
	} else {
		error_set(error, ENOMEM, "not enough memory for traffic sources");
	}
	free(list);
	return result;
}

static int create_host(struct wormhole_fabric *fabric, uint32_t number, struct error *error)
{
	const struct topology *topology = fabric->topology;
	const struct run_config *run = fabric->run;
	struct wormhole_source *host = &fabric->host[number];
	struct run_source_place place = {
		.host = (uint16_t)number,
		.hosts = topology->hosts,
		.until_ps = run->measure.duration_ps,
	};
	struct route_choice_options options;
	int result = 0;

	if (topology->host_link[number] < 0)
		return 0;
	/* Rounded to a whole number of ps per byte, like the network's links. */
	place.rate_bps =
		rate_of_time(ps_per_byte(topology->link_at[topology->host_link[number]].rate_bps)
			     << BYTE_TIME_SHIFT);
	options = device_config_selection(run, fabric->routes.set, number, place.rate_bps);
	if (route_choice_init(&host->choice, run->nic.selector, &options, run->seed,
		    (uint16_t)number, topology->hosts) < 0)
		return error_set(error, ENOMEM, "not enough memory for route selectors");
	host->source = calloc(fabric->traffic->entries + 1u, sizeof(*host->source));
	if (host->source == NULL)
		return error_set(error, ENOMEM, "not enough memory for traffic sources");
	for (uint32_t i = 0; i < fabric->traffic->entries && result == 0; i++)
		if (run_source_sends(&fabric->traffic->entry[i], number))
			result = add_source(fabric, number, i, &place, error);
	return result;
}

int wormhole_create_sources(struct wormhole_fabric *fabric, struct error *error)
{
	int result = 0;

	fabric->host = calloc(fabric->topology->hosts + 1u, sizeof(*fabric->host));
	if (fabric->host == NULL)
		return error_set(error, ENOMEM, "not enough memory for hosts");
	for (uint32_t i = 0; i < fabric->topology->hosts && result == 0; i++)
		result = create_host(fabric, i, error);
	return result;
}

void wormhole_destroy_sources(struct wormhole_fabric *fabric)
{
	for (uint32_t i = 0; fabric->host != NULL && i < fabric->topology->hosts; i++) {
		for (uint32_t k = 0; k < fabric->host[i].sources; k++)
			traffic_destroy(fabric->host[i].source[k]);
		free(fabric->host[i].source);
		route_choice_fini(&fabric->host[i].choice);
	}
	free(fabric->host);
}

static uint64_t due(void *ctx, uint32_t number, uint64_t now)
{
	const struct wormhole_fabric *fabric = ctx;
	const struct wormhole_source *host = &fabric->host[number];
	weft_time first = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < host->sources; i++) {
		weft_time at = traffic_due(host->source[i]);

		first = at < first ? at : first;
	}
	return first == WEFT_TIME_NEVER ? WORMHOLE_NEVER
					: (first + fabric->cycle_ps - 1) / fabric->cycle_ps;
}

uint64_t wormhole_fabric_waiting(const struct wormhole_fabric *fabric, uint32_t number)
{
	const struct wormhole_source *host = &fabric->host[number];
	uint64_t messages = 0;

	for (uint32_t i = 0; i < host->sources; i++) {
		const struct traffic_counters *count = traffic_counters(host->source[i]);

		messages += count->generated_messages - count->accepted_messages;
	}
	return messages - host->unreachable;
}

static uint32_t waiting(void *ctx, uint32_t number, uint64_t now)
{
	struct wormhole_fabric *fabric = ctx;
	uint64_t messages;

	for (uint32_t i = 0; i < fabric->host[number].sources; i++)
		traffic_count(fabric->host[number].source[i], now * fabric->cycle_ps);
	messages = wormhole_fabric_waiting(fabric, number);
	return messages < UINT32_MAX ? (uint32_t)messages : UINT32_MAX;
}

/* Finds the message that has waited longest, which its source keeps until traffic_accept(). */
static struct traffic *oldest(
	const struct wormhole_source *host, weft_time now, struct traffic_message *message)
{
	struct traffic *found = NULL;

	for (uint32_t i = 0; i < host->sources; i++) {
		struct traffic_message other;

		if (traffic_due(host->source[i]) > now ||
			!traffic_poll(host->source[i], now, &other))
			continue;
		if (found == NULL || other.generated_ps < message->generated_ps) {
			found = host->source[i];
			*message = other;
		}
	}
	return found;
}

static bool take(void *ctx, uint32_t number, uint64_t now, struct wormhole_offer *offer)
{
	struct wormhole_fabric *fabric = ctx;
	struct wormhole_source *host = &fabric->host[number];
	struct traffic_message message;
	struct traffic *source = oldest(host, now * fabric->cycle_ps, &message);
	unsigned count, index, length;

	if (source == NULL)
		return false;
	count = message.destination == number
			? 0
			: route_set_count(fabric->routes.set, number, message.destination);
	if (count == 0) {
		host->unreachable++;
		traffic_skip(source);
		return false;
	}
	index = route_choice_choose(&host->choice, message.destination, count, message.bytes);
	*offer = (struct wormhole_offer){
		.route = route_set_get(
			fabric->routes.set, number, message.destination, index, &length),
		.generated = message.generated_ps,
		.tag = host->taken++,
		.bytes = message.bytes,
		.destination = message.destination,
		.choice = (uint8_t)index,
		.entry = traffic_config(source)->entry,
	};
	traffic_accept(source);
	return true;
}

static void sent(void *ctx, const struct wormhole_message *message, uint64_t first, uint64_t last)
{
	struct wormhole_fabric *fabric = ctx;
	struct route_choice *choice = &fabric->host[message->source].choice;

	if (!route_choice_learns(choice))
		return;
	route_choice_sent(choice, message->destination,
		route_set_count(fabric->routes.set, message->source, message->destination),
		message->choice, first * fabric->cycle_ps, (last + 1) * fabric->cycle_ps,
		message->bytes);
}

static void delivered(void *ctx, const struct wormhole_message *message, uint64_t at)
{
	wormhole_measure_message(ctx, message, at);
}

static void discarded(void *ctx, const struct wormhole_message *message, uint64_t now)
{
	struct wormhole_fabric *fabric = ctx;

	fabric->fingerprint = rng_mix(fabric->fingerprint ^ now ^ ~(uint64_t)message->tag);
}

const struct wormhole_ops wormhole_fabric_ops = {
	.due = due,
	.waiting = waiting,
	.take = take,
	.sent = sent,
	.delivered = delivered,
	.discarded = discarded,
};
