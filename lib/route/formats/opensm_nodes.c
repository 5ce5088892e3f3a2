/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "opensm_tables.h"

#include <errno.h>

/* Maximum difference between the GUIDs of adjacent ports of an adapter. */
#define GUIDS_OF_ADAPTER 8

static void take_address(struct opensm_nodes *nodes, const struct ib_address *address)
{
	struct topology_port at = address->at;

	nodes->by_lid |= address->lid != 0;
	if (address->lid != 0)
		nodes->of_lid[at.kind][address->lid] = (int32_t)at.device;
	nodes->lid[at.kind][at.device] = address->lid;
	nodes->guid[at.kind][at.device] = address->guid;
}

int opensm_nodes_init(struct opensm_nodes *nodes, const struct topology *topology,
	const struct ib_addresses *addresses)
{
	*nodes = (struct opensm_nodes){.topology = topology, .addresses = addresses};
	ARRAYS_ADD(nodes, of_lid[DEVICE_SWITCH], OPENSM_LIDS);
	ARRAYS_ADD(nodes, of_lid[DEVICE_HOST], OPENSM_LIDS);
	ARRAYS_ADD(nodes, lid[DEVICE_SWITCH], topology->switches + 1u);
	ARRAYS_ADD(nodes, lid[DEVICE_HOST], topology->hosts + 1u);
	ARRAYS_ADD(nodes, guid[DEVICE_SWITCH], topology->switches + 1u);
	ARRAYS_ADD(nodes, guid[DEVICE_HOST], topology->hosts + 1u);
	if (nodes->arrays.failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < OPENSM_LIDS; i++)
		nodes->of_lid[DEVICE_SWITCH][i] = nodes->of_lid[DEVICE_HOST][i] = OPENSM_UNKNOWN;
	for (uint32_t i = 0; addresses != NULL && i < addresses->count; i++)
		take_address(nodes, &addresses->at[i]);
	return 0;
}

void opensm_nodes_fini(struct opensm_nodes *nodes)
{
	arrays_free(&nodes->arrays);
}

static int32_t find_by_guid(const struct opensm_nodes *nodes, const struct listing_node *node)
{
	uint32_t count =
		node->kind == DEVICE_SWITCH ? nodes->topology->switches : nodes->topology->hosts;

	for (uint32_t i = 0; node->guid != 0 && i < count; i++)
		if (nodes->guid[node->kind][i] == node->guid)
			return (int32_t)i;
	return OPENSM_UNKNOWN;
}

/* Returns the host port with this name and GUID, or else the first one without a LID, because all
 * ports of a host have one description. */
static int32_t find_host_port(const struct opensm_nodes *nodes, const char *name, uint64_t guid)
{
	const struct topology *topology = nodes->topology;
	int32_t at = topology_find_host(topology, name);

	while (at != OPENSM_UNKNOWN && nodes->lid[DEVICE_HOST][at] != 0 &&
		nodes->guid[DEVICE_HOST][at] != guid && topology->host_at[at].next != 0)
		at = (int32_t)topology->host_at[at].next;
	return at;
}

static int32_t find_by_name(const struct opensm_nodes *nodes, const struct listing_node *node)
{
	char text[TOPOLOGY_NAME_MAX];

	if (node->name.length == 0)
		return OPENSM_UNKNOWN;
	unique_names_spell(node->name.start, node->name.length, "", text);
	return node->kind == DEVICE_SWITCH ? topology_find_switch(nodes->topology, text)
					   : find_host_port(nodes, text, node->guid);
}

/* Returns the port before this one on the same host; the port itself if it is the first. */
static uint32_t port_before(const struct opensm_nodes *nodes, uint32_t device)
{
	const struct topology_device *host_at = nodes->topology->host_at;
	uint32_t at = host_at[device].owner;

	while (at != device && host_at[at].next != device)
		at = host_at[at].next;
	return at;
}

/* Stores LID and GUID of a device that was found by its description. */
static int keep(struct opensm_nodes *nodes, struct listing_reader *reader,
	const struct listing_node *node, uint32_t device)
{
	uint32_t *lid = &nodes->lid[node->kind][device];
	uint64_t *guid = &nodes->guid[node->kind][device];
	uint32_t before = node->kind == DEVICE_HOST ? port_before(nodes, device) : device;

	if (*guid != 0 && *guid == node->guid && *lid != 0)
		return 0;
	if ((*lid != 0 && node->lid != 0 && *lid != node->lid) ||
		(before != device &&
			node->guid - nodes->guid[DEVICE_HOST][before] > GUIDS_OF_ADAPTER)) {
		listing_refuse(reader,
			"two nodes with LIDs %u and %u are called '%.*s'; use the listing with "
			"their LIDs instead of topology %s",
			*lid != 0 ? *lid : nodes->lid[node->kind][before], node->lid,
			ib_shown(node->name), node->name.start, nodes->topology->name);
		return -ERANGE;
	}
	if (node->lid != 0)
		*lid = node->lid;
	if (node->guid != 0)
		*guid = node->guid;
	return 0;
}

int opensm_nodes_find(struct opensm_nodes *nodes, struct listing_reader *reader,
	const struct listing_node *node, int32_t *device)
{
	int result = 0;

	*device = node->lid != 0 ? nodes->of_lid[node->kind][node->lid] : OPENSM_UNKNOWN;
	if (*device != OPENSM_UNKNOWN)
		return 0;
	if (nodes->by_lid || node->kind == DEVICE_SWITCH)
		*device = find_by_guid(nodes, node);
	if (*device == OPENSM_UNKNOWN && !nodes->by_lid) {
		*device = find_by_name(nodes, node);
		if (*device != OPENSM_UNKNOWN)
			result = keep(nodes, reader, node, (uint32_t)*device);
	}
	nodes->unknown += *device == OPENSM_UNKNOWN;
	if (*device != OPENSM_UNKNOWN && node->lid != 0)
		nodes->of_lid[node->kind][node->lid] = *device;
	return result;
}

int32_t opensm_nodes_host(struct opensm_nodes *nodes, uint32_t lid)
{
	int32_t host = nodes->of_lid[DEVICE_HOST][lid];

	if (host == OPENSM_UNKNOWN || nodes->lid[DEVICE_HOST][host] == lid)
		return host;
	nodes->further++;
	return OPENSM_UNKNOWN;
}

void opensm_nodes_ports(
	const struct opensm_nodes *nodes, uint32_t at, uint8_t port_at[OPENSM_PORTS])
{
	uint64_t guid = nodes->guid[DEVICE_SWITCH][at];
	uint32_t lid = guid == 0 ? nodes->lid[DEVICE_SWITCH][at] : 0;

	for (unsigned port = 0; port < OPENSM_PORTS; port++)
		port_at[port] = (uint8_t)port;
	for (unsigned port = 1; port < OPENSM_PORTS && nodes->addresses != NULL; port++) {
		const struct ib_address *address =
			ib_address_find(nodes->addresses, guid, lid, port);

		if (address == NULL || address->at.port + 1u == port)
			continue;
		/* The topology gave this port a different number, one that has no cable in the
		 * listing. */
		port_at[port] = (uint8_t)(address->at.port + 1);
		port_at[port_at[port]] = 0;
	}
}

int opensm_nodes_check(struct opensm_nodes *nodes, const char *origin,
	struct topology_import *import, struct error *error)
{
	uint32_t unknown = nodes->unknown, further = nodes->further;
	struct error odd;

	nodes->unknown = nodes->further = 0;
	if (further > 0) {
		error_set(&odd, 0,
			"%s: %u entries for further LIDs of hosts (LMC); they are left out", origin,
			further);
		topology_import_note(import, &odd);
	}
	if (unknown == 0)
		return 0;
	error_set(&odd, 0, "%s: %u switches and entries are not in topology %s", origin, unknown,
		nodes->topology->name);
	return topology_import_odd(import, &odd, "they are left out", error);
}

struct ib_text opensm_description(const struct listing_reader *reader, char end)
{
	struct ib_text name = {reader->at, (uint32_t)(reader->end - reader->at)};

	while (name.length > 0 && name.start[name.length - 1] != end)
		name.length--;
	name.length -= name.length > 0;
	return name;
}
