/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The links of a virtual fabric: one channel per direction, with both ends' credits as after the
 * hellos of a real start-up. */

#include "virtual_links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "experiment/run/run_events.h"
#include "setup/device_config.h"
#include "traffic/traffic_pattern.h"
#include "virtual/parallel/arena.h"

/* Exceeds the blocks of any buffer; sums with it stay below 2^31. */
#define MARGIN_MAX (1u << 29)

/* Wire bytes of traffic, with source routes of varying length. */

static unsigned first_length(const struct virtual_fabric *fabric, uint32_t from, uint32_t to)
{
	unsigned length = 0;

	return route_set_get(fabric->routes.set, from, to, 0, &length) != NULL ? length : 0;
}

int virtual_wire_cost_open(struct virtual_fabric *fabric, struct error *error)
{
	if (fabric->routes.set == NULL)
		return 0;
	fabric->route_sum = calloc(fabric->hosts + 1u, sizeof(*fabric->route_sum));
	if (fabric->route_sum == NULL)
		return error_set(error, ENOMEM, "not enough memory for %u hosts", fabric->hosts);
	route_set_add_lengths(fabric->routes.set, fabric->route_sum);
	return 0;
}

void virtual_wire_cost_close(struct virtual_fabric *fabric)
{
	free(fabric->route_sum);
}

static uint64_t mean(uint64_t sum, uint32_t count)
{
	return sum * TRAFFIC_ROUTE_BYTE / count;
}

static uint64_t mean_to_all(const struct virtual_fabric *fabric, uint32_t host)
{
	return mean(fabric->route_sum[host], fabric->hosts - 1);
}

/* Returns the mean over the list's hosts except the host itself, or over all if none is left. */
static uint64_t mean_to(
	const struct virtual_fabric *fabric, uint32_t host, const uint16_t *to, uint32_t count)
{
	uint64_t sum = 0;
	uint32_t others = 0;

	for (uint32_t i = 0; i < count; i++) {
		others += to[i] != host;
		sum += to[i] != host ? first_length(fabric, host, to[i]) : 0;
	}
	return others > 0 ? mean(sum, others) : mean_to_all(fabric, host);
}

/* Returns the mean over the other ports in the plane of 'port', for hosts with several ports. */
static uint64_t mean_in_plane(
	const struct virtual_fabric *fabric, const struct rails *rails, uint32_t port)
{
	uint32_t others = 0;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		others += i != port && rails->plane[i] == rails->plane[port];
	return others > 0 ? mean(fabric->route_sum[port], others) : 0;
}

/* Combined traffic and bit permutations count as if sent to all hosts, and traffic of hosts with
 * several ports as if sent to all hosts of the plane. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config)
{
	const uint16_t *to = config->permutation;
	uint64_t all, partition = traffic_elsewhere_ppm(config);

	if (fabric->route_sum == NULL || config->hosts < 2)
		return 0;
	if (config->rails != NULL)
		return (uint32_t)mean_in_plane(fabric, config->rails, config->port);
	all = mean_to_all(fabric, config->host);
	if (to != NULL && to[config->host] != config->host)
		return (uint32_t)mean_to(fabric, config->host, &to[config->host], 1);
	if (to != NULL || config->pattern->anywhere)
		return (uint32_t)all;
	if (config->near != NULL)
		return (uint32_t)mean_to(fabric, config->host, config->near, config->near_count);
	return (uint32_t)((mean_to(fabric, config->host, config->targets, config->targets_count) *
					  (QUANTITY_WHOLE_PPM - partition) +
				  all * partition) /
			  QUANTITY_WHOLE_PPM);
}

uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes)
{
	uint64_t frames = frame_count(bytes, fabric->run->nic.mtu_bytes);
	unsigned route = fabric->routes.set != NULL ? first_length(fabric, source, destination) : 0;

	return bytes + frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD + route);
}

static uint32_t order_of(
	const struct virtual_fabric *fabric, struct topology_port at, enum virtual_event kind)
{
	return at.kind == DEVICE_SWITCH ? VIRTUAL_SWITCH_ORDER(at.device, at.port, kind)
					: virtual_host_order(fabric, at.device, kind);
}

static void open_channel(struct virtual_fabric *fabric, const struct topology_link *link,
	struct topology_port from, struct topology_port to)
{
	struct virtual_tx *channel = virtual_channel_at(fabric, from);

	*virtual_tx_cold(fabric, channel) = (struct virtual_tx_cold){.delay_ps = link->delay_ps};
	*channel = (struct virtual_tx){
		.byte_time = byte_time_of(link->rate_bps),
		.rest = WIRE_REST,
		.done = order_of(fabric, from, VIRTUAL_DONE),
		.arrive_ps =
			link->delay_ps + (to.kind == DEVICE_SWITCH ? fabric->routing_delay_ps : 0),
		.arrive = order_of(fabric, to, VIRTUAL_ARRIVE),
		.credit = order_of(fabric, to, VIRTUAL_CREDIT),
		.blocked_since = WEFT_TIME_NEVER,
		.waits = !link_cuts_through(
			fabric->topology, fabric->run->sw.switching, link->rate_bps, to),
		.lane = to.kind == DEVICE_HOST ? VIRTUAL_LANE_HOST : VIRTUAL_LANE_SWITCH,
		.special = byte_time_part(byte_time_of(link->rate_bps)) != 0,
	};
}

/* Passes a hello from one end to the other. Switches process it as a whole: they count per port. */
static void say_hello(
	struct virtual_fabric *fabric, struct topology_port from, struct topology_port to)
{
	struct control_hello hello;

	link_end_fill_hello(virtual_end_at(fabric, from), &hello, 0);
	if (to.kind == DEVICE_SWITCH)
		switch_on_hello(fabric->sw[to.device], to.port, &hello, 0);
	else
		link_end_on_hello(virtual_end_at(fabric, to), &hello, 0);
}

static void grant(struct virtual_fabric *fabric, struct topology_port from, struct topology_port to)
{
	struct control_credit credit;

	link_end_fill_credit(virtual_end_at(fabric, from), &credit, 0);
	if (to.kind == DEVICE_SWITCH)
		switch_on_credit(fabric->sw[to.device], to.port, &credit, 0);
	else
		link_end_on_credit(virtual_end_at(fabric, to), &credit, 0);
}

/* A switch's channels are adjacent; it has as many channels as ports. */
static int create_channels(struct virtual_fabric *fabric)
{
	const struct topology *topology = fabric->topology;
	size_t channels = fabric->hosts, used = 0;

	for (uint32_t at = 0; at < fabric->switches; at++)
		channels += topology->switch_at[at].ports;
	fabric->channel = arena_get(&fabric->arena, (channels + 1) * sizeof(*fabric->channel));
	fabric->tx_cold = arena_get(&fabric->arena, (channels + 1) * sizeof(*fabric->tx_cold));
	fabric->first = calloc(fabric->switches + 1, sizeof(struct virtual_tx *));
	fabric->crossbar =
		arena_get(&fabric->arena, (fabric->switches + 1) * sizeof(*fabric->crossbar));
	if (fabric->channel == NULL || fabric->tx_cold == NULL || fabric->first == NULL ||
		fabric->crossbar == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < channels; i++)
		fabric->channel[i] = (struct virtual_tx){.blocked_since = WEFT_TIME_NEVER};
	for (uint32_t at = 0; at < fabric->switches; at++) {
		memset(fabric->crossbar[at].input, SWITCH_PORT_NONE, PORT_SET_PORTS);
		fabric->first[at] = &fabric->channel[used];
		used += topology->switch_at[at].ports;
	}
	fabric->first[fabric->switches] = &fabric->channel[used];
	return 0;
}

void virtual_links_foretell(struct virtual_fabric *fabric)
{
	const struct run_config *run = fabric->run;
	struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];
	bool each = fabric->foretells && run->events.count == 0 && run->routing.file == NULL;

	for (struct virtual_tx *channel = fabric->channel; channel < end; channel++)
		channel->foretells =
			each && !channel->special && virtual_delay_of(fabric, channel) > 0;
}

void virtual_links_destroy(struct virtual_fabric *fabric)
{
	free(fabric->first);
}

weft_time virtual_links_free_at(const struct virtual_fabric *fabric)
{
	const struct virtual_tx *end = &fabric->first[fabric->switches][fabric->hosts];
	weft_time last = 0;

	for (const struct virtual_tx *channel = fabric->channel; channel < end; channel++)
		if (channel->free_at > last)
			last = channel->free_at;
	return last;
}

/* Returns how many blocks can arrive at an input while an output of the switch is sending: what the
 * fastest link carries while the slowest sends the longest frame, doubled because blocks are
 * rounded up, plus one frame that had nearly arrived before. */
static uint32_t margin_blocks(const struct virtual_fabric *fabric)
{
	const struct topology *topology = fabric->topology;
	uint64_t frame = fabric->run->nic.mtu_bytes + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX +
			 FRAME_WIRE_OVERHEAD;
	uint64_t slowest = 0, fastest = UINT64_MAX, blocks;

	for (uint32_t i = 0; i < topology->links; i++) {
		uint64_t each = byte_time_of(topology->link_at[i].rate_bps);

		slowest = each > slowest ? each : slowest;
		fastest = each < fastest ? each : fastest;
	}
	for (uint32_t i = 0; i < fabric->run->events.count; i++) {
		const struct run_event *event = &fabric->run->events.at[i];
		uint64_t rate = event->rate_bps != 0 ? event->rate_bps : event->drain_bps;
		uint64_t each = byte_time_of(rate);

		slowest = each > slowest ? each : slowest;
		fastest = rate != 0 && each < fastest ? each : fastest;
	}
	if (fastest == 0)
		return MARGIN_MAX;
	blocks = 2 * (frame * slowest / fastest / FRAME_BLOCK_BYTES + 1) +
		 frame_blocks((unsigned)frame);
	return blocks < MARGIN_MAX ? (uint32_t)blocks : MARGIN_MAX;
}

int virtual_links_create(struct virtual_fabric *fabric, struct error *error)
{
	const struct topology *topology = fabric->topology;

	if (create_channels(fabric) < 0)
		return error_set(error, ENOMEM, "%s: not enough memory for links", topology->name);
	fabric->margin_blocks = margin_blocks(fabric);
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		open_channel(fabric, link, link->a, link->b);
		open_channel(fabric, link, link->b, link->a);
		/* After three hellos, both ends have identified each other and grant credits. */
		say_hello(fabric, link->a, link->b);
		say_hello(fabric, link->b, link->a);
		say_hello(fabric, link->a, link->b);
		grant(fabric, link->a, link->b);
		grant(fabric, link->b, link->a);
	}
	return 0;
}

/* Counts switches along the tables' route. Returns 0 if unknown. */
static unsigned walk(const struct virtual_fabric *fabric, uint32_t from, uint32_t to)
{
	struct topology_port at = {DEVICE_HOST, from, 0};
	unsigned switches = 0;

	while (topology_peer(fabric->topology, at, &at) && at.kind == DEVICE_SWITCH &&
		switches < UINT8_MAX) {
		const struct weft_switch *sw = fabric->sw[at.device];

		if (to > sw->table_last || switch_table_port(sw, to) == SWITCH_PORT_NONE)
			return 0;
		at.port = switch_table_port(sw, to);
		switches++;
	}
	return switches;
}

unsigned virtual_links_between(const struct virtual_fabric *fabric, uint32_t from, uint32_t to)
{
	uint8_t *hops;

	if (fabric->hops == NULL)
		return walk(fabric, from, to);
	hops = &fabric->hops[(size_t)from * fabric->hosts + to];
	if (*hops == 0)
		*hops = (uint8_t)walk(fabric, from, to);
	return *hops;
}
