/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A fabric in memory for tests of the mapper: an agent in each device, cables that have delays,
 * lose frames and can be cut, switches that route scout and mapper frames. Frames are complete and
 * checked at every device. Frames at a host that are not commands go to hooks, which also send. */

#include "base/rng.h"
#include "mapper/mapper_agent.h"
#include "topo/topology.h"
#include "unit.h"
#include "wire/frame_check.h"

#define NET_DELAY_PS PS_PER_US
/* mapper_patience_ps() of mapper_usual(). */
#define NET_PATIENCE_PS (12 * 60 * PS_PER_MS)
#define NET_HOST_ID     ((uint64_t)1 << 32)
#define NET_NAME_ROOM   16

struct net_flight {
	struct net_flight *next;
	weft_time at;
	struct topology_port to;
	uint32_t link;
	unsigned bytes;
	uint8_t data[];
};

struct net;

struct net_hooks {
	void *context;
	void (*receive)(
		void *context, uint32_t host, weft_time now, const uint8_t *data, unsigned bytes);
	bool (*poll)(void *context, uint32_t host, weft_time now, struct mapper_frame *frame);
	weft_time (*due)(void *context, uint32_t host, weft_time now);
	/* May be NULL: reports the orders of an agent to its device. */
	void (*ordered)(void *context, enum device_kind kind, uint32_t at, unsigned orders);
	/* May be NULL: called for every frame that enters a cable. */
	void (*watch)(
		void *context, struct topology_port from, const uint8_t *data, unsigned bytes);
	/* May be NULL: frames that this cable loses. */
	bool (*loses)(void *context, uint32_t link, const uint8_t *data);
};

struct net {
	const struct topology *topology;
	struct mapper_agent *switch_agent, *host_agent;
	bool *switch_dead, *host_dead, *link_cut;
	char (*switch_name)[NET_NAME_ROOM], (*host_name)[NET_NAME_ROOM];
	const struct fabric_key *key;
	struct net_hooks hooks;
	struct net_flight *first, **last;
	struct rng rng;
	uint32_t loss_ppm; /* on each cable */
	weft_time now;
	uint64_t frames, lost, misrouted;
	bool *changed; /* by host: to be polled */
};

static inline struct mapper_agent *net_agent(struct net *net, enum device_kind kind, uint32_t at)
{
	return kind == DEVICE_SWITCH ? &net->switch_agent[at] : &net->host_agent[at];
}

static inline uint64_t net_id(enum device_kind kind, uint32_t at)
{
	return kind == DEVICE_SWITCH ? at + 1 : NET_HOST_ID + at;
}

/* Restarts a device, which remembers nothing. Links stay up. */
static inline void net_start_device(
	struct net *net, enum device_kind kind, uint32_t at, uint32_t session)
{
	const struct topology *topology = net->topology;
	struct mapper_agent *agent = net_agent(net, kind, at);
	struct mapper_agent_config config = {
		.senders_max = 65536,
		.id = net_id(kind, at),
		.session = session,
		.kind = kind == DEVICE_HOST,
		.ports = kind == DEVICE_HOST ? 1 : topology->switch_at[at].ports,
		.number = (uint16_t)at,
		.name = kind == DEVICE_HOST ? net->host_name[at] : net->switch_name[at],
		.key = net->key,
		.candidate = kind == DEVICE_HOST,
		.lease_ps = 50 * PS_PER_MS,
		.pause_ps = NET_PATIENCE_PS,
		.report_retry_ps = PS_PER_MS,
		.image_bytes_max = 1 << 20,
	};

	mapper_agent_fini(agent);
	mapper_agent_init(agent, &config, (uint64_t)session << 32);
	for (unsigned p = 0; p < config.ports; p++) {
		struct topology_port port = {kind, at, (uint8_t)p};
		const struct topology_link *link = topology_link_at(topology, port);

		mapper_agent_set_link(agent, (uint8_t)p,
			link != NULL && !net->link_cut[link - topology->link_at]);
	}
	*(kind == DEVICE_SWITCH ? &net->switch_dead[at] : &net->host_dead[at]) = false;
}

static inline void net_init(struct net *net, const struct topology *topology,
	const struct fabric_key *key, uint64_t seed)
{
	memset(net, 0, sizeof(*net));
	net->topology = topology;
	net->key = key;
	net->last = &net->first;
	net->switch_agent = calloc(topology->switches + 1, sizeof(*net->switch_agent));
	net->host_agent = calloc(topology->hosts + 1, sizeof(*net->host_agent));
	net->switch_dead = calloc(topology->switches + 1, sizeof(bool));
	net->host_dead = calloc(topology->hosts + 1, sizeof(bool));
	net->link_cut = calloc(topology->links + 1, sizeof(bool));
	net->changed = calloc(topology->hosts + 1, sizeof(bool));
	net->switch_name = calloc(topology->switches + 1, NET_NAME_ROOM);
	net->host_name = calloc(topology->hosts + 1, NET_NAME_ROOM);
	rng_init(&net->rng, seed, 0, 7);
	for (uint32_t i = 0; i < topology->switches; i++) {
		snprintf(net->switch_name[i], NET_NAME_ROOM, "s%u", i);
		net_start_device(net, DEVICE_SWITCH, i, 1000 + i);
	}
	for (uint32_t i = 0; i < topology->hosts; i++) {
		snprintf(net->host_name[i], NET_NAME_ROOM, "h%u", i);
		net_start_device(net, DEVICE_HOST, i, 100000 + i);
	}
}

static inline void net_fini(struct net *net)
{
	while (net->first != NULL) {
		struct net_flight *flight = net->first;

		net->first = flight->next;
		free(flight);
	}
	for (uint32_t i = 0; i < net->topology->switches; i++)
		mapper_agent_fini(&net->switch_agent[i]);
	for (uint32_t i = 0; i < net->topology->hosts; i++)
		mapper_agent_fini(&net->host_agent[i]);
	free(net->switch_agent);
	free(net->host_agent);
	free(net->switch_dead);
	free(net->host_dead);
	free(net->link_cut);
	free(net->changed);
	free(net->switch_name);
	free(net->host_name);
}

/* A frame leaves a device by this port. */
static inline void net_send(
	struct net *net, struct topology_port from, const uint8_t *data, unsigned bytes)
{
	const struct topology_link *link = topology_link_at(net->topology, from);
	struct net_flight *flight;

	net->frames++;
	if (net->hooks.watch != NULL)
		net->hooks.watch(net->hooks.context, from, data, bytes);
	if (link == NULL || net->link_cut[link - net->topology->link_at] ||
		rng_chance_ppm(&net->rng, net->loss_ppm) ||
		(net->hooks.loses != NULL &&
			net->hooks.loses(net->hooks.context,
				(uint32_t)(link - net->topology->link_at), data))) {
		net->lost++;
		return;
	}
	flight = malloc(sizeof(*flight) + bytes);
	assert_non_null(flight);
	flight->next = NULL;
	flight->at = net->now + NET_DELAY_PS;
	flight->bytes = bytes;
	flight->link = (uint32_t)(link - net->topology->link_at);
	assert_true(topology_peer(net->topology, from, &flight->to));
	memcpy(flight->data, data, bytes);
	*net->last = flight;
	net->last = &flight->next;
}

static inline void net_to_agent(
	struct net *net, struct topology_port at, const uint8_t *data, unsigned bytes)
{
	static struct mapper_frame answer;
	unsigned orders = mapper_agent_receive(
		net_agent(net, at.kind, at.device), net->now, at.port, data, bytes, &answer);

	if (net->hooks.ordered != NULL)
		net->hooks.ordered(net->hooks.context, at.kind, at.device, orders);
	if ((orders & MAPPER_AGENT_ANSWER) == 0)
		return;
	if (answer.port == MAPPER_PORT_LOCAL)
		net->hooks.receive(
			net->hooks.context, at.device, net->now, answer.data, answer.bytes);
	else
		net_send(net, (struct topology_port){at.kind, at.device, answer.port}, answer.data,
			answer.bytes);
}

/* Handles a scout or mapper frame at a device. */
static inline void net_arrive(
	struct net *net, struct topology_port at, uint8_t *data, unsigned bytes)
{
	const struct frame_header *header = frame_header_const(data);
	bool host = at.kind == DEVICE_HOST;
	uint8_t element;

	if (host ? net->host_dead[at.device] : net->switch_dead[at.device])
		return;
	if (frame_check(data, bytes) != FRAME_FAULT_OK || header->cursor == header->route_length) {
		net->misrouted++;
		return;
	}
	element = frame_route(data)[header->cursor];
	if (element == ROUTE_TYPE_AGENT && header->cursor + 1 == header->route_length) {
		unsigned type = data[frame_payload_offset(header)];

		if (!host || mapper_type_is_command(type))
			net_to_agent(net, at, data, bytes);
		else if (net->hooks.receive != NULL)
			net->hooks.receive(net->hooks.context, at.device, net->now, data, bytes);
		if (host)
			net->changed[at.device] = true;
	} else if (!host && (element & ROUTE_PORT_BIT) != 0) {
		frame_update_mutable(data, frame_mutable_word(header->vc, header->vc_original,
						   header->cursor + 1, header->flags));
		net_send(net,
			(struct topology_port){DEVICE_SWITCH, at.device, element & ROUTE_PORT_MASK},
			data, bytes);
	} else {
		net->misrouted++;
	}
}

static inline weft_time net_poll_agents(struct net *net)
{
	static struct mapper_frame report;
	weft_time next = WEFT_TIME_NEVER;

	for (unsigned kind = 0; kind < 2; kind++)
		for (uint32_t i = 0; i < (kind == DEVICE_SWITCH ? net->topology->switches
								: net->topology->hosts);
			i++) {
			struct mapper_agent *agent = net_agent(net, kind, i);
			unsigned orders;
			weft_time due;

			if (kind == DEVICE_SWITCH ? net->switch_dead[i] : net->host_dead[i])
				continue;
			orders = mapper_agent_wait(agent, net->now);
			if (net->hooks.ordered != NULL && orders != 0)
				net->hooks.ordered(net->hooks.context, kind, i, orders);
			due = mapper_agent_due(agent);
			if (due <= net->now && mapper_agent_poll(agent, net->now, &report))
				net_send(net, (struct topology_port){kind, i, report.port},
					report.data, report.bytes);
			due = mapper_agent_due(agent);
			if (due > net->now && due < next)
				next = due;
		}
	return next;
}

static inline weft_time net_poll_hosts(struct net *net)
{
	static struct mapper_frame frame;
	weft_time next = WEFT_TIME_NEVER;

	for (uint32_t i = 0; i < net->topology->hosts && net->hooks.poll != NULL; i++) {
		weft_time due;

		if (net->host_dead[i])
			continue;
		while (net->hooks.poll(net->hooks.context, i, net->now, &frame))
			if (frame.port == MAPPER_PORT_LOCAL)
				net_to_agent(net,
					(struct topology_port){DEVICE_HOST, i, MAPPER_PORT_LOCAL},
					frame.data, frame.bytes);
			else
				net_send(net, (struct topology_port){DEVICE_HOST, i, 0}, frame.data,
					frame.bytes);
		due = net->hooks.due(net->hooks.context, i, net->now);
		if (due < next)
			next = due;
	}
	return next;
}

/* Runs until 'until', or until nothing is under way or due earlier. */
static inline void net_run(struct net *net, weft_time until)
{
	for (;;) {
		weft_time agents = net_poll_agents(net), next = net_poll_hosts(net);

		next = agents < next ? agents : next;
		if (net->first != NULL && net->first->at < next)
			next = net->first->at;
		if (next > until) {
			net->now = until;
			return;
		}
		net->now = next > net->now ? next : net->now + 1;
		while (net->first != NULL && net->first->at <= net->now) {
			struct net_flight *flight = net->first;

			net->first = flight->next;
			if (net->first == NULL)
				net->last = &net->first;
			if (!net->link_cut[flight->link])
				net_arrive(net, flight->to, flight->data, flight->bytes);
			free(flight);
		}
	}
}

/* Both ends see it at once. */
static inline void net_cut_link(struct net *net, uint32_t link, bool cut)
{
	const struct topology_link *at = &net->topology->link_at[link];

	net->link_cut[link] = cut;
	mapper_agent_set_link(net_agent(net, at->a.kind, at->a.device), at->a.port, !cut);
	mapper_agent_set_link(net_agent(net, at->b.kind, at->b.device), at->b.port, !cut);
}
