/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int name_port(struct topology_device *device, const char *host, unsigned rail,
	const char *origin, struct error *error)
{
	char name[TOPOLOGY_NAME_MAX + 8];

	if (snprintf(name, sizeof(name), "%s:%u", host, rail) >= TOPOLOGY_NAME_MAX)
		return error_at(error, origin, device->line, 0,
			"the name of host %s is too long for a host with several ports; at most "
			"%d characters are allowed",
			host, TOPOLOGY_NAME_MAX - 3);
	memcpy(device->name, name, strlen(name) + 1);
	device->rail = (uint8_t)rail;
	return 0;
}

int topology_split_hosts(struct topology *topology, const char *origin, struct error *error)
{
	uint32_t hosts = topology->nodes, all = 0, at = hosts;
	struct topology_device *grown;
	int result = 0;

	for (uint32_t i = 0; i < hosts; i++)
		all += topology->host_at[i].ports;
	if (all > TOPOLOGY_HOSTS_MAX)
		return error_set(error, EINVAL,
			"%s: the hosts have %u ports; at most %u are allowed", origin, all,
			TOPOLOGY_HOSTS_MAX);
	grown = realloc(topology->host_at, ((size_t)all + 1) * sizeof(*grown));
	if (grown == NULL)
		return error_set(
			error, ENOMEM, "%s: not enough memory for %u host ports", origin, all);
	topology->host_at = grown;
	topology->hosts = all;
	for (unsigned rail = 1; rail < TOPOLOGY_HOST_PORTS_MAX && at < all; rail++)
		for (uint32_t i = 0; i < hosts && result == 0; i++) {
			if (grown[i].ports <= rail)
				continue;
			grown[at] = grown[i];
			result = name_port(&grown[at++], grown[i].name, rail, origin, error);
		}
	for (uint32_t i = 0; i < hosts && result == 0; i++)
		if (grown[i].ports > 1) {
			char host[TOPOLOGY_NAME_MAX];

			memcpy(host, grown[i].name, sizeof(host));
			result = name_port(&grown[i], host, 0, origin, error);
		}
	return result;
}

int topology_node_name(const struct topology *topology, struct topology_port port)
{
	return (int)strcspn(topology_device_name(topology, port), ":");
}

void topology_host_name(
	const struct topology *topology, uint32_t entry, char name[TOPOLOGY_NAME_MAX])
{
	snprintf(name, TOPOLOGY_NAME_MAX, "%.*s", (int)strcspn(topology->host_at[entry].name, ":"),
		topology->host_at[entry].name);
}

static int32_t find_port(const struct topology *topology, const char *host, unsigned rail)
{
	char name[TOPOLOGY_NAME_MAX + 16];

	snprintf(name, sizeof(name), "%s:%u", host, rail);
	return topology_find_host(topology, name);
}

/* Groups the entries of a host, given its first entry that is present. */
static int group_host(
	struct topology *topology, uint32_t first, const char *origin, struct error *error)
{
	struct topology_device *device = &topology->host_at[first], *last = device;
	char host[TOPOLOGY_NAME_MAX];

	topology_host_name(topology, first, host);
	for (unsigned rail = device->rail + 1u; rail < TOPOLOGY_HOST_PORTS_MAX; rail++) {
		int32_t entry = find_port(topology, host, rail);

		if (entry < 0)
			continue;
		last->next = (uint32_t)entry;
		last = &topology->host_at[entry];
		last->owner = first;
		last->rail = (uint8_t)rail;
		last->next = 0;
		topology->nodes--;
	}
	for (struct topology_device *port = device;; port = &topology->host_at[port->next]) {
		port->ports = last->rail + 1;
		if (port->next == 0)
			break;
	}
	if (topology_find_switch(topology, host) < 0)
		return 0;
	return error_at(error, origin, device->line, 0,
		"a switch and a host with several ports are named '%s'; names must be unique among switches and hosts",
		host);
}

int topology_group_hosts(struct topology *topology, const char *origin, struct error *error)
{
	uint32_t ports = 0;
	int result = 0;

	topology->nodes = topology->hosts;
	for (uint32_t i = 0; i < topology->hosts; i++) {
		const char *colon = strchr(topology->host_at[i].name, ':');

		topology->host_at[i].owner = i;
		topology->host_at[i].next = 0;
		topology->host_at[i].rail = colon != NULL ? (uint8_t)(colon[1] - '0') : 0;
		ports += colon != NULL;
	}
	for (unsigned rail = 0; ports > 0 && rail < TOPOLOGY_HOST_PORTS_MAX; rail++)
		for (uint32_t i = 0; i < topology->hosts && result == 0; i++)
			if (topology->host_at[i].owner == i && topology->host_at[i].rail == rail &&
				strchr(topology->host_at[i].name, ':') != NULL)
				result = group_host(topology, i, origin, error);
	return result;
}

int64_t topology_host_port(const struct topology *topology, uint32_t entry, unsigned rail)
{
	uint32_t at = topology->host_at[entry].owner;

	while (topology->host_at[at].rail != rail) {
		at = topology->host_at[at].next;
		if (at == 0)
			return -1;
	}
	return at;
}

uint32_t topology_named_ports(
	const struct topology *topology, uint32_t host, const char *name, uint32_t *ports)
{
	uint32_t count = 0;

	for (;; host = topology->host_at[host].next) {
		ports[count++] = host;
		if (topology->host_at[host].next == 0 || strchr(name, ':') != NULL)
			return count;
	}
}

static uint32_t root_of(uint32_t *part, uint32_t device)
{
	while (part[device] != device) {
		part[device] = part[part[device]];
		device = part[device];
	}
	return device;
}

uint32_t *topology_parts(const struct topology *topology)
{
	uint32_t *part = malloc((topology->switches + 1u) * sizeof(*part));

	for (uint32_t s = 0; part != NULL && s < topology->switches; s++)
		part[s] = s;
	for (uint32_t i = 0; part != NULL && i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (topology_link_is_inner(link))
			part[root_of(part, link->a.device)] = root_of(part, link->b.device);
	}
	for (uint32_t s = 0; part != NULL && s < topology->switches; s++)
		part[s] = root_of(part, s);
	return part;
}

int topology_planes(const struct topology *topology, uint32_t *plane)
{
	uint32_t *part = topology_parts(topology);
	uint32_t *number = malloc((topology->switches + 1u) * sizeof(*number)), planes = 0;
	struct topology_port at;
	int result = part != NULL && number != NULL ? 0 : -ENOMEM;

	for (uint32_t s = 0; result == 0 && s < topology->switches; s++)
		number[s] = TOPOLOGY_NO_PLANE;
	for (uint32_t h = 0; result == 0 && h < topology->hosts; h++) {
		plane[h] = TOPOLOGY_NO_PLANE;
		if (!topology_host_switch(topology, h, &at))
			continue;
		if (number[part[at.device]] == TOPOLOGY_NO_PLANE)
			number[part[at.device]] = ++planes;
		plane[h] = number[part[at.device]];
	}
	free(number);
	free(part);
	return result;
}

int topology_keep_planes(struct topology *topology)
{
	uint32_t *plane;
	int result;

	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_at[h].plane != TOPOLOGY_NO_PLANE)
			return 0;
	plane = malloc(topology->hosts * sizeof(*plane));
	result = plane != NULL ? topology_planes(topology, plane) : -ENOMEM;
	for (uint32_t h = 0; h < topology->hosts && result == 0; h++)
		topology->host_at[h].plane = plane[h];
	free(plane);
	return result;
}

uint32_t topology_plane_count(const struct topology *topology)
{
	uint32_t count = 1;

	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_at[h].plane > count)
			count = topology->host_at[h].plane;
	return count;
}

/* --- combination of two topologies --- */

static void copy_defaults(struct topology *to, const struct topology *from)
{
	to->default_rate_bps = from->default_rate_bps;
	to->default_delay_ps = from->default_delay_ps;
	to->default_given = from->default_given;
}

static bool is_taken(const struct topology *from, const struct topology *other, uint32_t entry)
{
	int32_t there = topology_find_host(other, from->host_at[entry].name);

	return from->host_link[entry] >= 0 || there < 0 ||
	       strcmp(other->host_at[there].name, from->host_at[entry].name) != 0;
}

/* Appends the devices and cables of 'from', without host ports that belong to 'other'. */
static int append(struct topology *all, const struct topology *from, const struct topology *other,
	uint32_t *switches, uint32_t *hosts)
{
	uint32_t *number = malloc((from->hosts + 1u) * sizeof(*number)), first = *switches;
	int result = number != NULL ? 0 : -ENOMEM;

	for (uint32_t s = 0; s < from->switches && result == 0; s++)
		all->switch_at[(*switches)++] = from->switch_at[s];
	for (uint32_t h = 0; h < from->hosts && result == 0; h++) {
		if (!is_taken(from, other, h))
			continue;
		number[h] = *hosts;
		all->host_at[(*hosts)++] = from->host_at[h];
	}
	for (uint32_t i = 0; i < from->links && result == 0; i++) {
		struct topology_port end[] = {from->link_at[i].a, from->link_at[i].b};

		for (unsigned e = 0; e < 2; e++)
			end[e].device = end[e].kind == DEVICE_HOST ? number[end[e].device]
								   : first + end[e].device;
		result = topology_add_link(all, end[0], end[1], from->link_at[i].rate_bps,
			from->link_at[i].delay_ps, from->link_at[i].line);
		if (result == 0)
			all->link_at[all->links - 1].given = from->link_at[i].given;
	}
	free(number);
	return result;
}

struct topology *topology_join(
	const struct topology *a, const struct topology *b, struct error *error)
{
	struct topology *all =
		topology_create(a->name, a->switches + b->switches, a->hosts + b->hosts);
	uint32_t switches = 0, hosts = 0;
	int result = all != NULL ? 0 : -ENOMEM;

	if (result == 0) {
		copy_defaults(all, a);
		result = append(all, a, b, &switches, &hosts);
	}
	if (result == 0)
		result = append(all, b, a, &switches, &hosts);
	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: out of memory", a->name);
	if (result == 0) {
		all->hosts = hosts;
		result = topology_finish(all, a->name, error);
	}
	if (result == 0)
		return all;
	topology_destroy(all);
	errno = -result;
	return NULL;
}

/* --- copies of a plane --- */

static int copy_switches(
	struct topology *all, const struct topology *plane, unsigned rail, struct error *error)
{
	for (uint32_t s = 0; s < plane->switches; s++) {
		struct topology_device *to = &all->switch_at[rail * plane->switches + s];
		char name[TOPOLOGY_NAME_MAX + 8];

		*to = plane->switch_at[s];
		if (snprintf(name, sizeof(name), "r%u-%s", rail, plane->switch_at[s].name) >=
			TOPOLOGY_NAME_MAX)
			return error_set(error, EINVAL, "%s: the name of switch %s is too long",
				all->name, plane->switch_at[s].name);
		memcpy(to->name, name, strlen(name) + 1);
	}
	return 0;
}

static struct topology_port moved(
	const struct topology *plane, struct topology_port port, unsigned rail)
{
	port.device += rail * (port.kind == DEVICE_SWITCH ? plane->switches : plane->hosts);
	return port;
}

static int multiply(
	struct topology *all, const struct topology *plane, unsigned rails, struct error *error)
{
	int result = 0;

	copy_defaults(all, plane);
	for (uint32_t h = 0; h < plane->hosts; h++) {
		all->host_at[h] = plane->host_at[h];
		all->host_at[h].ports = (uint8_t)rails;
	}
	result = topology_split_hosts(all, all->name, error);
	for (unsigned rail = 0; rail < rails && result == 0; rail++) {
		result = copy_switches(all, plane, rail, error);
		for (uint32_t i = 0; i < plane->links && result == 0; i++) {
			const struct topology_link *link = &plane->link_at[i];

			result = topology_add_link(all, moved(plane, link->a, rail),
				moved(plane, link->b, rail), link->rate_bps, link->delay_ps,
				link->line);
			if (result == 0)
				all->link_at[all->links - 1].given = link->given;
		}
	}
	return result;
}

struct topology *topology_multiply(
	const struct topology *plane, const char *name, unsigned rails, struct error *error)
{
	struct topology *all;
	int result;

	if ((uint64_t)plane->switches * rails > TOPOLOGY_SWITCHES_MAX ||
		(uint64_t)plane->hosts * rails > TOPOLOGY_HOSTS_MAX) {
		error_set(error, EINVAL,
			"%s: %u rails of %u switches and %u hosts; at most %u and %u are allowed in total",
			name, rails, plane->switches, plane->hosts, TOPOLOGY_SWITCHES_MAX,
			TOPOLOGY_HOSTS_MAX);
		errno = EINVAL;
		return NULL;
	}
	all = topology_create(name, rails * plane->switches, plane->hosts);
	result = all == NULL ? -ENOMEM : multiply(all, plane, rails, error);
	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: not enough memory for %u rails", name, rails);
	if (result == 0)
		return all;
	topology_destroy(all);
	errno = -result;
	return NULL;
}
