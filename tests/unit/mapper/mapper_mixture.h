/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides whether the tables in use in a fabric can deadlock now, from the images alone, with
 * code that shares nothing with the mapper, its check or the route verifier: a table counts from
 * its commit until no packet that used it can be under way. Each host may have sent by any of its
 * images of that time, each switch may have forwarded by any of its own. A channel is one
 * direction of an intact cable; no VC classes. */

#include "mapper/table_image.h"
#include "mapper_net.h"

struct mixture_table {
	struct mixture_table *next; /* older */
	uint8_t *bytes;
	weft_time until; /* when it was replaced; WEFT_TIME_NEVER */
};

struct mixture {
	struct net *net;
	weft_time linger;
	struct mixture_table **table; /* switches, then hosts: the newest first */
	uint64_t *after;              /* by channel: output ports used immediately after it */
	uint64_t *ports;              /* [switch * hosts + destination]: possible output ports */
	uint64_t *sets;               /* [hosts], of the image that is being read */
	uint32_t *queue;
	bool *seen;
};

static inline uint32_t mixture_devices(const struct mixture *mixture)
{
	return mixture->net->topology->switches + mixture->net->topology->hosts;
}

static inline struct mixture_table **mixture_of(
	struct mixture *mixture, enum device_kind kind, uint32_t at)
{
	return &mixture->table[kind == DEVICE_SWITCH ? at : mixture->net->topology->switches + at];
}

static inline void mixture_forget(struct mixture_table **table)
{
	while (*table != NULL) {
		struct mixture_table *old = *table;

		*table = old->next;
		free(old->bytes);
		free(old);
	}
}

/* Devices that this mapper pauses have nothing under way when the first device commits. */
static inline void mixture_drained(struct mixture *mixture, uint64_t mapper)
{
	const struct topology *topology = mixture->net->topology;

	for (uint32_t i = 0; i < mixture_devices(mixture); i++) {
		bool host = i >= topology->switches;
		const struct mapper_agent *agent =
			net_agent(mixture->net, host, host ? i - topology->switches : i);

		if (agent->paused && agent->followed == mapper && mixture->table[i] != NULL)
			mixture_forget(&mixture->table[i]->next);
	}
}

/* Records the current tables of the device instead of the former ones. */
static inline void mixture_note(struct mixture *mixture, enum device_kind kind, uint32_t at)
{
	const struct mapper_agent *agent = net_agent(mixture->net, kind, at);
	struct mixture_table **list = mixture_of(mixture, kind, at), *table;

	if (*list != NULL)
		(*list)->until = mixture->net->now;
	if (agent->paused) {
		mixture_drained(mixture, agent->followed);
		mixture_forget(list);
	}
	if (agent->image == NULL)
		return;
	table = malloc(sizeof(*table));
	assert_non_null(table);
	*table = (struct mixture_table){*list, malloc(agent->image_bytes), WEFT_TIME_NEVER};
	assert_non_null(table->bytes);
	memcpy(table->bytes, agent->image, agent->image_bytes);
	*list = table;
}

static inline void mixture_init(struct mixture *mixture, struct net *net, weft_time linger)
{
	const struct topology *topology = net->topology;

	*mixture = (struct mixture){.net = net, .linger = linger};
	mixture->table = calloc(mixture_devices(mixture) + 1, sizeof(*mixture->table));
	mixture->after = calloc(2 * topology->links + 1, sizeof(*mixture->after));
	mixture->ports =
		calloc((size_t)topology->switches * topology->hosts + 1, sizeof(*mixture->ports));
	mixture->sets = calloc(topology->hosts + 1, sizeof(*mixture->sets));
	mixture->queue = calloc(2 * topology->links + 1, sizeof(*mixture->queue));
	mixture->seen = calloc(2 * topology->links + 1, sizeof(*mixture->seen));
	for (uint32_t i = 0; i < topology->switches; i++)
		mixture_note(mixture, DEVICE_SWITCH, i);
	for (uint32_t i = 0; i < topology->hosts; i++)
		mixture_note(mixture, DEVICE_HOST, i);
}

static inline void mixture_fini(struct mixture *mixture)
{
	for (uint32_t i = 0; mixture->table != NULL && i < mixture_devices(mixture); i++)
		mixture_forget(&mixture->table[i]);
	free(mixture->table);
	free(mixture->after);
	free(mixture->ports);
	free(mixture->sets);
	free(mixture->queue);
	free(mixture->seen);
	*mixture = (struct mixture){0};
}

#define MIXTURE_NO_CHANNEL UINT32_MAX

/* 2i leads from end a to end b of cable i, 2i + 1 back. */
static inline uint32_t mixture_channel(const struct mixture *mixture, struct topology_port from)
{
	const struct topology_link *link = topology_link_at(mixture->net->topology, from);
	uint32_t at;

	if (link == NULL)
		return MIXTURE_NO_CHANNEL;
	at = (uint32_t)(link - mixture->net->topology->link_at);
	if (mixture->net->link_cut[at])
		return MIXTURE_NO_CHANNEL;
	return 2 * at + (link->a.kind != from.kind || link->a.device != from.device ||
				link->a.port != from.port);
}

static inline struct topology_port mixture_end(const struct mixture *mixture, uint32_t channel)
{
	const struct topology_link *link = &mixture->net->topology->link_at[channel / 2];

	return channel % 2 == 0 ? link->b : link->a;
}

/* Returns the next channel: from the end of this one through this port. */
static inline uint32_t mixture_step(struct mixture *mixture, uint32_t channel, unsigned port)
{
	struct topology_port at = mixture_end(mixture, channel);
	uint32_t next =
		mixture_channel(mixture, (struct topology_port){at.kind, at.device, (uint8_t)port});

	if (next != MIXTURE_NO_CHANNEL)
		mixture->after[channel] |= (uint64_t)1 << port;
	return next;
}

struct mixture_walk {
	struct mixture *mixture;
	uint32_t host;
};

static inline uint32_t mixture_first(const struct mixture *mixture, uint32_t host)
{
	return mixture_channel(mixture, (struct topology_port){DEVICE_HOST, host, 0});
}

static inline void mixture_route(void *context, const struct table_image_route *route)
{
	struct mixture_walk *walk = context;
	struct mixture *mixture = walk->mixture;
	uint32_t channel = mixture_first(mixture, walk->host);

	for (unsigned i = 0; i < route->length && channel != MIXTURE_NO_CHANNEL; i++) {
		bool host = mixture_end(mixture, channel).kind == DEVICE_HOST;

		if (route->elements[i] & ROUTE_PORT_BIT)
			channel = host ? MIXTURE_NO_CHANNEL
				       : mixture_step(mixture, channel,
						 route->elements[i] & ROUTE_PORT_MASK);
		else if (route->elements[i] == ROUTE_TYPE_ITB && host)
			channel = mixture_first(mixture, mixture_end(mixture, channel).device);
		else
			return;
	}
}

/* One bit per port through which the switch may send to a host, over all its tables. */
static inline void mixture_read_switch(struct mixture *mixture, uint32_t at)
{
	const struct topology *topology = mixture->net->topology;
	uint64_t *ports = mixture->ports + (size_t)at * topology->hosts;

	memset(ports, 0, topology->hosts * sizeof(*ports));
	for (struct mixture_table *table = *mixture_of(mixture, DEVICE_SWITCH, at); table != NULL;
		table = table->next) {
		struct table_image_switch tables;
		uint32_t hosts = table_image_hosts(table->bytes);

		assert_true(hosts <= topology->hosts);
		table_image_read_switch(
			table->bytes, topology->switch_at[at].ports, &tables, mixture->sets);
		assert_int_equal(tables.vc_classes, 0);
		for (uint32_t to = 0; to < hosts; to++) {
			ports[to] |= mixture->sets[to];
			if (tables.primary[to] != ROUTE_TABLE_NONE)
				ports[to] |= (uint64_t)1 << tables.primary[to];
		}
	}
}

static inline void mixture_tables_to(struct mixture *mixture, uint32_t to)
{
	const struct topology *topology = mixture->net->topology;
	uint32_t tail = 0;

	memset(mixture->seen, 0, 2 * topology->links * sizeof(*mixture->seen));
	for (uint32_t host = 0; host < topology->hosts; host++) {
		uint32_t channel = mixture_first(mixture, host);

		if (host != to && channel != MIXTURE_NO_CHANNEL) {
			mixture->seen[channel] = true;
			mixture->queue[tail++] = channel;
		}
	}
	for (uint32_t head = 0; head < tail; head++) {
		struct topology_port at = mixture_end(mixture, mixture->queue[head]);
		uint64_t ports = at.kind == DEVICE_SWITCH
					 ? mixture->ports[(size_t)at.device * topology->hosts + to]
					 : 0;

		for (; ports != 0; ports &= ports - 1) {
			uint32_t next = mixture_step(
				mixture, mixture->queue[head], (unsigned)__builtin_ctzll(ports));

			if (next == MIXTURE_NO_CHANNEL || mixture->seen[next])
				continue;
			mixture->seen[next] = true;
			mixture->queue[tail++] = next;
		}
	}
}

/* Removes channels that wait for no other, until none is left or all others are in cycles. */
static inline bool mixture_has_cycle(struct mixture *mixture)
{
	uint32_t channels = 2 * mixture->net->topology->links, left = 0;
	bool *gone = mixture->seen, progress = true;

	for (uint32_t c = 0; c < channels; c++) {
		gone[c] = mixture->after[c] == 0;
		left += !gone[c];
	}
	while (progress && left > 0) {
		progress = false;
		for (uint32_t c = 0; c < channels; c++) {
			bool waits = false;

			for (uint64_t ports = mixture->after[c]; ports != 0 && !waits;
				ports &= ports - 1) {
				struct topology_port at = mixture_end(mixture, c);

				at.port = (uint8_t)__builtin_ctzll(ports);
				waits = !gone[mixture_channel(mixture, at)];
			}
			if (gone[c] || waits)
				continue;
			gone[c] = true;
			left--;
			progress = true;
		}
	}
	return left > 0;
}

/* Forgets tables that no packet can use. The newest is in use. */
static inline void mixture_retire(struct mixture *mixture)
{
	for (uint32_t i = 0; i < mixture_devices(mixture); i++)
		for (struct mixture_table **table = &mixture->table[i]; *table != NULL;
			table = &(*table)->next)
			if ((*table)->until != WEFT_TIME_NEVER &&
				mixture->net->now - (*table)->until > mixture->linger) {
				mixture_forget(table);
				break;
			}
}

/* Returns true if packets could wait for each other in a cycle. */
static inline bool mixture_can_deadlock(struct mixture *mixture)
{
	const struct topology *topology = mixture->net->topology;

	mixture_retire(mixture);
	memset(mixture->after, 0, 2 * topology->links * sizeof(*mixture->after));
	for (uint32_t host = 0; host < topology->hosts; host++)
		for (struct mixture_table *table = *mixture_of(mixture, DEVICE_HOST, host);
			table != NULL; table = table->next) {
			struct mixture_walk walk = {mixture, host};

			table_image_each_route(table->bytes, mixture_route, &walk);
		}
	for (uint32_t at = 0; at < topology->switches; at++)
		mixture_read_switch(mixture, at);
	for (uint32_t to = 0; to < topology->hosts; to++)
		mixture_tables_to(mixture, to);
	return mixture_has_cycle(mixture);
}
