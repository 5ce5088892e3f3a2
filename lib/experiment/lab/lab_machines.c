/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab_config_private.h"
#include "topo/topology_hosts.h"

/* Returns true if the machine lists the device; a host's port may also be listed as the host. */
static bool has(const struct lab_config_machine *machine, const char *device)
{
	size_t host = strcspn(device, ":");

	for (uint32_t i = 0; i < machine->devices; i++)
		if (strcmp(machine->device[i], device) == 0 ||
			(strncmp(machine->device[i], device, host) == 0 &&
				machine->device[i][host] == '\0'))
			return true;
	return false;
}

int lab_machine_of(const struct lab_config *config, const char *device)
{
	for (uint32_t i = 0; i < config->machines.count; i++)
		if (has(&config->machines.at[i], device))
			return (int)i;
	return -1;
}

int lab_machine_find(const struct lab_config *config, const char *name)
{
	for (uint32_t i = 0; i < config->machines.count; i++)
		if (strcmp(config->machines.at[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* --- devices --- */

/* Checks that devices exist, and that each is on one machine. */
static int check_devices(
	const struct lab_config *config, const struct topology *topology, struct error *error)
{
	for (uint32_t i = 0; i < config->machines.count; i++) {
		const struct lab_config_machine *machine = &config->machines.at[i];

		for (uint32_t j = 0; j < machine->devices; j++) {
			const char *device = machine->device[j];
			int first = lab_machine_of(config, device);

			if (topology_find_switch(topology, device) < 0 &&
				topology_find_host(topology, device) < 0)
				return lab_config_refuse_device(config, &machine->place, "machine",
					machine->name, device, topology, error);
			if (first != (int)i)
				return run_config_refuse(&config->run, &machine->place, error,
					"machine '%s': %s is already on machine '%s'; a device "
					"can only be on one machine",
					machine->name, device, config->machines.at[first].name);
		}
	}
	return 0;
}

static int check_placed(const struct lab_config *config, const char *device, struct error *error)
{
	if (lab_machine_of(config, device) >= 0)
		return 0;
	return run_config_refuse(&config->run, &config->machines.at[0].place, error,
		"machines: %s is not on any machine; add it to the 'devices' of one", device);
}

static int check_all_placed(
	const struct lab_config *config, const struct topology *topology, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < topology->switches && result == 0; i++)
		result = check_placed(config, topology->switch_at[i].name, error);
	for (uint32_t i = 0; i < topology->hosts && result == 0; i++)
		result = check_placed(config, topology->host_at[i].name, error);
	return result;
}

/* --- ports --- */

static struct topology_binding *find_binding(struct topology *topology, struct topology_port port)
{
	for (uint32_t i = 0; i < topology->bindings; i++)
		if (topology_port_is(topology->binding_at[i].port, port))
			return &topology->binding_at[i];
	return NULL;
}

static int refuse_port(const struct lab_config *config, const struct lab_config_machine *machine,
	const struct lab_config_port *port, const char *why, const char *what, struct error *error)
{
	return run_config_refuse(&config->run, &port->place, error, "machine '%s': port %s %s%s",
		machine->name, port->port, why, what);
}

static int add_port(const struct lab_config *config, const struct lab_config_machine *machine,
	const struct lab_config_port *row, struct topology *topology, struct error *error)
{
	struct topology_binding *binding, *more;
	struct topology_port port;
	int at;

	if (topology_find_port(topology, row->port, &port) < 0 ||
		topology_link_at(topology, port) == NULL)
		return refuse_port(config, machine, row,
			"has no cable in the topology; use a port with a cable, such as s0:1", "",
			error);
	at = lab_machine_of(config, topology_device_name(topology, port));
	if (at != machine - config->machines.at)
		return refuse_port(config, machine, row, "belongs to machine ",
			config->machines.at[at].name, error);
	binding = find_binding(topology, port);
	if (binding != NULL &&
		(strcmp(binding->dpdk, row->dpdk) != 0 || binding->vlan != row->vlan))
		return refuse_port(config, machine, row,
			"is already bound to another device: ", binding->dpdk, error);
	if (binding != NULL)
		return 0;
	more = realloc(topology->binding_at, (topology->bindings + 1) * sizeof(*more));
	if (more == NULL)
		return error_set(error, ENOMEM, "%s: out of memory", config->run.origin);
	topology->binding_at = more;
	more[topology->bindings] = (struct topology_binding){.port = port, .vlan = row->vlan};
	memcpy(more[topology->bindings++].dpdk, row->dpdk, sizeof(row->dpdk));
	return 0;
}

/* Fails if two ports of one machine are the same PCI device. */
static int check_device_twice(
	const struct lab_config *config, const struct topology *topology, struct error *error)
{
	for (uint32_t i = 0; i < topology->bindings; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct topology_binding *a = &topology->binding_at[j];
			const struct topology_binding *b = &topology->binding_at[i];
			int machine =
				lab_machine_of(config, topology_device_name(topology, a->port));
			char name[2][TOPOLOGY_NAME_MAX + 8];

			if (strcmp(a->dpdk, b->dpdk) != 0 || strncmp(a->dpdk, "net_", 4) == 0 ||
				machine != lab_machine_of(
						   config, topology_device_name(topology, b->port)))
				continue;
			topology_port_name(topology, a->port, name[0], sizeof(name[0]));
			topology_port_name(topology, b->port, name[1], sizeof(name[1]));
			return error_set(error, EINVAL,
				"%s: machine '%s': ports %s and %s both use %s; each port must "
				"have its own device",
				config->run.origin, config->machines.at[machine].name, name[0],
				name[1], a->dpdk);
		}
	return 0;
}

int lab_machines_apply(
	const struct lab_config *config, struct topology *topology, struct error *error)
{
	int result;

	if (config->machines.count == 0)
		return 0;
	result = check_devices(config, topology, error);
	if (result == 0)
		result = check_all_placed(config, topology, error);
	for (uint32_t i = 0; i < config->machines.count; i++) {
		const struct lab_config_machine *machine = &config->machines.at[i];

		for (uint32_t j = 0; j < machine->ports && result == 0; j++)
			result = add_port(config, machine, &machine->port[j], topology, error);
	}
	return result == 0 ? check_device_twice(config, topology, error) : result;
}

/* --- processes and links --- */

static int check_group(
	const struct lab_config *config, const struct lab_config_group *group, struct error *error)
{
	int first = lab_machine_of(config, group->device[0]);

	for (uint32_t i = 1; i < group->count; i++) {
		int machine = lab_machine_of(config, group->device[i]);

		if (machine != first)
			return run_config_refuse(&config->run, &group->place, error,
				"group '%s': %s is on machine '%s' and %s on '%s'; a group's "
				"devices must be on one machine",
				group->name, group->device[0], config->machines.at[first].name,
				group->device[i], config->machines.at[machine].name);
	}
	return 0;
}

static bool in_group(const struct lab_plan_group *groups, uint32_t count, uint32_t host)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < groups[i].host_count; j++)
			if (groups[i].hosts[j] == host)
				return true;
	return false;
}

/* Collects the machine's hosts that are in none of the first 'count' groups. */
static int fill_rest(const struct lab_config_machine *machine, const struct topology *topology,
	const struct lab_plan_group *groups, uint32_t count, struct lab_plan_group *rest)
{
	uint32_t *hosts =
		calloc(((size_t)machine->devices + 1) * TOPOLOGY_HOST_PORTS_MAX, sizeof(*hosts));

	*rest = (struct lab_plan_group){.name = machine->name, .hosts = hosts};
	if (hosts == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < machine->devices; i++) {
		int32_t host = topology_find_host(topology, machine->device[i]);

		if (host >= 0 && !in_group(groups, count, (uint32_t)host))
			rest->host_count += topology_named_ports(topology, (uint32_t)host,
				machine->device[i], hosts + rest->host_count);
	}
	return 0;
}

static int add_rests(const struct lab_config *config, const struct topology *topology,
	struct lab_plan_group **groups, uint32_t *count)
{
	uint32_t given = *count;
	struct lab_plan_group *more =
		realloc(*groups, ((size_t)given + config->machines.count + 1) * sizeof(*more));
	int result = 0;

	if (more == NULL)
		return -ENOMEM;
	*groups = more;
	for (uint32_t i = 0; i < config->machines.count && result == 0; i++) {
		struct lab_plan_group *rest = &more[*count];

		result = fill_rest(&config->machines.at[i], topology, more, given, rest);
		if (result == 0 && rest->host_count > 0)
			(*count)++;
		else
			free((void *)(uintptr_t)rest->hosts);
	}
	return result;
}

struct lab_plan_group *lab_machines_groups(const struct lab_config *config,
	const struct topology *topology, uint32_t *count, struct error *error)
{
	struct lab_plan_group *groups = lab_config_groups(config, topology, error);
	int result = 0;

	*count = config->groups.count;
	if (groups == NULL || config->machines.count <= 1)
		return groups;
	for (uint32_t i = 0; i < config->groups.count && result == 0; i++)
		result = check_group(config, &config->groups.at[i], error);
	if (result == 0 && add_rests(config, topology, &groups, count) < 0)
		result = error_set(error, ENOMEM, "%s: out of memory", config->run.origin);
	if (result == 0)
		return groups;
	lab_config_groups_free(groups, *count);
	errno = -result;
	return NULL;
}

int lab_machines_check_links(
	const struct lab_config *config, const struct lab_plan *plan, struct error *error)
{
	const struct topology *topology = plan->topology;

	for (uint32_t i = 0; i < topology->links && config->machines.count > 1; i++) {
		const struct topology_link *link = &topology->link_at[i];
		int a = lab_machine_of(config, topology_device_name(topology, link->a));
		int b = lab_machine_of(config, topology_device_name(topology, link->b));
		char name[2][TOPOLOGY_NAME_MAX + 8];

		if (a == b || plan->link[i].kind == LAB_LINK_BOUND)
			continue;
		topology_port_name(topology, link->a, name[0], sizeof(name[0]));
		topology_port_name(topology, link->b, name[1], sizeof(name[1]));
		return error_set(error, EINVAL,
			"%s: link %s - %s leads from machine '%s' to '%s'; add both ports to the "
			"machines' 'ports'",
			config->run.origin, name[0], name[1], config->machines.at[a].name,
			config->machines.at[b].name);
	}
	return 0;
}
