/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology.h"

#include <stdlib.h>
#include <string.h>

static void name_devices(struct topology_device *devices, uint32_t count, char letter)
{
	for (uint32_t i = 0; i < count; i++)
		snprintf(devices[i].name, sizeof(devices[i].name), "%c%u", letter, i);
}

struct topology *topology_create(const char *name, uint32_t switches, uint32_t hosts)
{
	struct topology *topology;

	if (switches > TOPOLOGY_SWITCHES_MAX || hosts > TOPOLOGY_HOSTS_MAX)
		return NULL;
	topology = calloc(1, sizeof(*topology));
	if (topology == NULL)
		return NULL;
	snprintf(topology->name, sizeof(topology->name), "%s", name);
	topology->default_rate_bps = TOPOLOGY_RATE_BPS;
	topology->default_delay_ps = TOPOLOGY_DELAY_PS;
	topology->switches = switches;
	topology->hosts = hosts;
	/* One more than needed: calloc(0) may return NULL. */
	topology->switch_at = calloc((size_t)switches + 1, sizeof(*topology->switch_at));
	topology->host_at = calloc((size_t)hosts + 1, sizeof(*topology->host_at));
	if (topology->switch_at == NULL || topology->host_at == NULL) {
		topology_destroy(topology);
		return NULL;
	}
	name_devices(topology->switch_at, switches, 's');
	name_devices(topology->host_at, hosts, 'h');
	topology->nodes = hosts;
	for (uint32_t i = 0; i < hosts; i++) {
		topology->host_at[i].ports = 1;
		topology->host_at[i].owner = i;
	}
	return topology;
}

void topology_destroy(struct topology *topology)
{
	if (topology == NULL)
		return;
	free(topology->switch_at);
	free(topology->host_at);
	free(topology->link_at);
	free(topology->binding_at);
	free(topology->switch_port_link);
	free(topology->host_link);
	free(topology->by_name);
	free(topology);
}

/* Copies 'count' elements to a new array of capacity 'room'. Copies NULL as NULL. Sets '*failed' if
 * out of memory. */
static void *copy_array(const void *from, size_t count, size_t room, size_t bytes, bool *failed)
{
	void *to;

	if (from == NULL)
		return NULL;
	to = malloc((room + 1) * bytes);
	if (to == NULL) {
		*failed = true;
		return NULL;
	}
	return memcpy(to, from, count * bytes);
}

#define COPY_ARRAY(to, from, field, count) \
	((to)->field = copy_array((from)->field, count, count, sizeof(*(to)->field), &failed))

/* Returns the capacity of the link array. It grows in powers of two, so the array is full if the
 * number of links is one. */
static size_t link_room(uint32_t links)
{
	size_t room = 1;

	while (room < links)
		room *= 2;
	return room;
}

struct topology *topology_copy(const struct topology *from)
{
	size_t switches = from->switches, hosts = from->hosts;
	struct topology *to = malloc(sizeof(*to));
	bool failed = false;

	if (to == NULL)
		return NULL;
	*to = *from;
	COPY_ARRAY(to, from, switch_at, switches);
	COPY_ARRAY(to, from, host_at, hosts);
	COPY_ARRAY(to, from, binding_at, from->bindings);
	COPY_ARRAY(to, from, switch_port_link, switches * TOPOLOGY_PORTS_MAX);
	COPY_ARRAY(to, from, host_link, hosts);
	COPY_ARRAY(to, from, by_name, switches + hosts);
	to->link_at = copy_array(
		from->link_at, from->links, link_room(from->links), sizeof(*to->link_at), &failed);
	if (failed) {
		topology_destroy(to);
		return NULL;
	}
	return to;
}

int topology_add_link(struct topology *topology, struct topology_port a, struct topology_port b,
	uint64_t rate_bps, weft_time delay_ps, uint32_t line)
{
	uint32_t links = topology->links;
	struct topology_link *grown;

	if (links == 0 || links == link_room(links)) {
		grown = realloc(topology->link_at, link_room(links + 1) * sizeof(*grown));
		if (grown == NULL)
			return -ENOMEM;
		topology->link_at = grown;
	}
	topology->link_at[links] = (struct topology_link){
		.a = a,
		.b = b,
		.rate_bps = rate_bps != 0 ? rate_bps : topology->default_rate_bps,
		.delay_ps = delay_ps != WEFT_TIME_NEVER ? delay_ps : topology->default_delay_ps,
		.given = topology->default_given || rate_bps != 0 || delay_ps != WEFT_TIME_NEVER,
		.line = line,
	};
	topology->links++;
	return 0;
}

uint32_t topology_present_hosts(const struct topology *topology)
{
	uint32_t present = 0;

	for (uint32_t i = 0; i < topology->hosts; i++)
		present += !topology->host_at[i].absent;
	return present;
}

uint32_t topology_present_nodes(const struct topology *topology)
{
	uint32_t present = 0;

	for (uint32_t i = 0; i < topology->hosts; i++)
		present += !topology->host_at[i].absent && topology->host_at[i].owner == i;
	return present;
}

const struct topology_link *topology_link_at(
	const struct topology *topology, struct topology_port port)
{
	int32_t link;

	if (port.kind == DEVICE_HOST)
		link = port.device < topology->hosts && port.port == 0
			       ? topology->host_link[port.device]
			       : -1;
	else
		link = port.device < topology->switches && port.port < TOPOLOGY_PORTS_MAX
			       ? topology->switch_port_link[port.device * TOPOLOGY_PORTS_MAX +
							    port.port]
			       : -1;
	return link < 0 ? NULL : &topology->link_at[link];
}

uint32_t topology_way_at(const struct topology *topology, struct topology_port from)
{
	const struct topology_link *link = topology_link_at(topology, from);
	bool is_a = link->a.kind == from.kind && link->a.device == from.device &&
		    link->a.port == from.port;

	return 2 * (uint32_t)(link - topology->link_at) + (is_a ? 0 : 1);
}

bool topology_peer(
	const struct topology *topology, struct topology_port port, struct topology_port *peer)
{
	const struct topology_link *link = topology_link_at(topology, port);

	if (link == NULL)
		return false;
	*peer = link->a.kind == port.kind && link->a.device == port.device &&
				link->a.port == port.port
			? link->b
			: link->a;
	return true;
}

bool topology_host_switch(const struct topology *topology, uint32_t host, struct topology_port *at)
{
	struct topology_port port = {DEVICE_HOST, host, 0};

	return topology_peer(topology, port, at) && at->kind == DEVICE_SWITCH;
}
