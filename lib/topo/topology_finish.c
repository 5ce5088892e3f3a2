/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The rules of a valid topology. Each check reports one error, and both lines of a contradiction.
 */

#include "topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topology_hosts.h"

struct check {
	struct topology *topology;
	const char *origin;
	struct error *error;
};

/* Returns " in line 12" if the line is known, otherwise "". */
static const char *other_line(uint32_t line, char out[32])
{
	out[0] = '\0';
	if (line != 0)
		snprintf(out, 32, " in line %u", line);
	return out;
}

static int check_device_exists(
	const struct check *check, const struct topology_link *link, struct topology_port port)
{
	uint32_t count =
		port.kind == DEVICE_HOST ? check->topology->hosts : check->topology->switches;

	if (port.device < count)
		return 0;
	return error_at(check->error, check->origin, link->line, 0,
		"the link leads to %s number %u, but there are %u",
		port.kind == DEVICE_HOST ? "host" : "switch", port.device, count);
}

static int check_port_exists(
	const struct check *check, const struct topology_link *link, struct topology_port port)
{
	const struct topology_device *device;
	char line[32];

	if (port.kind == DEVICE_HOST) {
		device = &check->topology->host_at[port.device];
		if (port.port == 0)
			return 0;
		if (device->ports > 1)
			return error_at(check->error, check->origin, link->line, 0,
				"no port %u at host %.*s%s: it has %u, 0 to %u", port.port,
				(int)strcspn(device->name, ":"), device->name,
				other_line(device->line, line), device->ports, device->ports - 1);
		return error_at(check->error, check->origin, link->line, 0,
			"no port %u at host %s%s: it has one port, %s:0", port.port, device->name,
			other_line(device->line, line), device->name);
	}
	device = &check->topology->switch_at[port.device];
	if (port.port < device->ports)
		return 0;
	return error_at(check->error, check->origin, link->line, 0,
		"no port %u at switch %s%s: it has %u, 0 to %u", port.port, device->name,
		other_line(device->line, line), device->ports, device->ports - 1);
}

static int check_link_ends(const struct check *check, const struct topology_link *link)
{
	struct topology_port a = link->a, b = link->b;
	const struct topology *topology = check->topology;

	if (a.kind == DEVICE_HOST && b.kind == DEVICE_HOST)
		return error_at(check->error, check->origin, link->line, 0,
			"hosts %s and %s are linked directly; one end must be a switch",
			topology->host_at[a.device].name, topology->host_at[b.device].name);
	if (a.kind == b.kind && a.device == b.device)
		return error_at(check->error, check->origin, link->line, 0,
			"the link leads from switch %s to itself",
			topology->switch_at[a.device].name);
	return 0;
}

/* Sets the port count of switches without one to the number that their links need. */
static int count_ports(const struct check *check)
{
	struct topology *topology = check->topology;
	bool *counted = calloc((size_t)topology->switches + 1, sizeof(*counted));

	if (counted == NULL)
		return -ENOMEM;
	for (uint32_t s = 0; s < topology->switches; s++)
		if (topology->switch_at[s].ports == 0) {
			counted[s] = true;
			topology->switch_at[s].ports = 1;
		}
	for (uint32_t i = 0; i < topology->links; i++) {
		struct topology_port ends[] = {topology->link_at[i].a, topology->link_at[i].b};

		for (unsigned e = 0; e < 2; e++)
			if (ends[e].kind == DEVICE_SWITCH && ends[e].device < topology->switches &&
				counted[ends[e].device] && ends[e].port < TOPOLOGY_PORTS_MAX &&
				topology->switch_at[ends[e].device].ports <= ends[e].port)
				topology->switch_at[ends[e].device].ports =
					(uint8_t)(ends[e].port + 1);
	}
	free(counted);
	return 0;
}

static int build_indexes(const struct check *check)
{
	struct topology *topology = check->topology;
	size_t ports = (size_t)topology->switches * TOPOLOGY_PORTS_MAX;

	free(topology->switch_port_link);
	free(topology->host_link);
	topology->switch_port_link = malloc((ports + 1) * sizeof(*topology->switch_port_link));
	topology->host_link = malloc(((size_t)topology->hosts + 1) * sizeof(*topology->host_link));
	if (topology->switch_port_link == NULL || topology->host_link == NULL)
		return -ENOMEM;
	memset(topology->switch_port_link, 0xff, ports * sizeof(*topology->switch_port_link));
	memset(topology->host_link, 0xff, topology->hosts * sizeof(*topology->host_link));
	return 0;
}

static int plug_in(const struct check *check, uint32_t number, struct topology_port port)
{
	struct topology *topology = check->topology;
	int32_t *slot =
		port.kind == DEVICE_HOST
			? &topology->host_link[port.device]
			: &topology->switch_port_link[port.device * TOPOLOGY_PORTS_MAX + port.port];
	char line[32], name[TOPOLOGY_NAME_MAX + 8];

	if (*slot < 0) {
		*slot = (int32_t)number;
		return 0;
	}
	topology_port_name(topology, port, name, sizeof(name));
	return error_at(check->error, check->origin, topology->link_at[number].line, 0,
		"port %s already has a link%s", name,
		other_line(topology->link_at[*slot].line, line));
}

static int check_end(
	const struct check *check, const struct topology_link *link, struct topology_port port)
{
	int result = check_device_exists(check, link, port);

	return result < 0 ? result : check_port_exists(check, link, port);
}

static int check_link(const struct check *check, uint32_t number)
{
	const struct topology_link *link = &check->topology->link_at[number];
	int result = check_end(check, link, link->a);

	if (result == 0)
		result = check_end(check, link, link->b);
	if (result == 0)
		result = check_link_ends(check, link);
	if (result == 0)
		result = plug_in(check, number, link->a);
	if (result == 0)
		result = plug_in(check, number, link->b);
	return result;
}

/* A host needs at least one link, at any of its ports. */
static int check_hosts(const struct check *check)
{
	const struct topology *topology = check->topology;

	for (uint32_t h = 0; h < topology->hosts; h++) {
		const struct topology_device *host = &topology->host_at[h];
		uint32_t port = h;

		if (host->owner != h)
			continue;
		while (topology->host_link[port] < 0 && !topology->host_at[port].cut_off &&
			topology->host_at[port].next != 0)
			port = topology->host_at[port].next;
		if (topology->host_link[port] < 0 && !topology->host_at[port].cut_off)
			return error_at(check->error, check->origin, host->line, 0,
				"host %.*s must have a link to a switch",
				(int)strcspn(host->name, ":"), host->name);
	}
	return 0;
}

int topology_finish(struct topology *topology, const char *origin, struct error *error)
{
	struct check check = {topology, origin, error};
	int result = 0;

	if (topology->by_name == NULL) {
		result = topology_index_names(topology, origin, error);
		if (result < 0)
			return result;
	}
	result = topology_group_hosts(topology, origin, error);
	if (result < 0)
		return result;
	if (count_ports(&check) < 0 || build_indexes(&check) < 0)
		return error_set(error, ENOMEM,
			"%s: not enough memory for %u switches and %u hosts", origin,
			topology->switches, topology->hosts);
	for (uint32_t i = 0; i < topology->links && result == 0; i++)
		result = check_link(&check, i);
	if (result == 0)
		result = check_hosts(&check);
	if (result == 0 && topology_has_rails(topology) && topology_keep_planes(topology) < 0)
		result = error_set(error, ENOMEM, "%s: not enough memory for %u hosts", origin,
			topology->hosts);
	return result;
}
