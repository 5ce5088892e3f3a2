/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* A topology in the format of ibnetdiscover's output (infiniband-diags; described in its man page),
 * which ibsim reads as the fabric to simulate. Switches come first, then hosts as channel adapters.
 * InfiniBand counts ports from 1, Weft from 0: port n becomes port n + 1. Names become node
 * descriptions. GUIDs are derived from device numbers, with the locally administered bit set. LIDs
 * are 0, for the subnet manager to assign. The format has no delays. */

#include <errno.h>
#include <inttypes.h>

#include "ib_listing.h"
#include "topo/topology_hosts.h"
#include "topology_format.h"

#define SWITCH_GUID UINT64_C(0x0200000000010000)
/* Node GUID of host 0. A port GUID is the node GUID plus 1. */
#define HOST_GUID UINT64_C(0x0200000100000000)

static uint64_t guid_of(struct topology_port port)
{
	return port.kind == DEVICE_SWITCH ? SWITCH_GUID + port.device
					  : HOST_GUID + 2 * (uint64_t)port.device;
}

/* Returns the GUID of the node that has the port. For a host it is derived from its first port. */
static uint64_t node_guid(const struct topology *topology, struct topology_port port)
{
	if (port.kind == DEVICE_HOST)
		port.device = topology->host_at[port.device].owner;
	return guid_of(port);
}

static unsigned number_of(const struct topology *topology, struct topology_port port)
{
	return port.kind == DEVICE_HOST ? topology->host_at[port.device].rail + 1u : port.port + 1u;
}

/* [1]	"H-0200000100000000"[1](200000100000001) 		# "h0" lid 0 4xSDR */
static void write_port(const struct topology *topology, struct topology_port port, FILE *out)
{
	const struct topology_link *link = topology_link_at(topology, port);
	struct topology_port peer;
	char rate[IB_RATE_TEXT];

	if (link == NULL)
		return;
	topology_peer(topology, port, &peer);
	ib_rate_format(link->rate_bps, rate);
	fprintf(out, "[%u]", number_of(topology, port));
	if (port.kind == DEVICE_HOST)
		fprintf(out, "(%" PRIx64 ") ", guid_of(port) + 1);
	fprintf(out, "\t\"%c-%016" PRIx64 "\"[%u]", peer.kind == DEVICE_SWITCH ? 'S' : 'H',
		node_guid(topology, peer), number_of(topology, peer));
	if (peer.kind == DEVICE_HOST)
		fprintf(out, "(%" PRIx64 ") ", guid_of(peer) + 1);
	fprintf(out, "\t\t# %s\"%.*s\" lid 0 %s\n", port.kind == DEVICE_HOST ? "lid 0 lmc 0 " : "",
		topology_node_name(topology, peer), topology_device_name(topology, peer), rate);
}

static void write_switch(const struct topology *topology, uint32_t number, FILE *out)
{
	struct topology_port port = {DEVICE_SWITCH, number, 0};
	const struct topology_device *device = &topology->switch_at[number];
	uint64_t guid = guid_of(port);

	fprintf(out,
		"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\nswitchguid=0x%" PRIx64
		"(%" PRIx64 ")\nSwitch\t%u \"S-%016" PRIx64
		"\"\t\t# \"%s\" base port 0 lid 0 lmc 0\n",
		guid, guid, guid, device->ports, guid, device->name);
	for (; port.port < device->ports; port.port++)
		write_port(topology, port, out);
}

static void write_host(const struct topology *topology, uint32_t number, FILE *out)
{
	struct topology_port port = {DEVICE_HOST, number, 0};
	const struct topology_device *host = &topology->host_at[number];
	uint64_t guid = guid_of(port);

	if (host->owner != number)
		return;
	fprintf(out,
		"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x%" PRIx64 "\ncaguid=0x%" PRIx64
		"\nCa\t%u \"H-%016" PRIx64 "\"\t\t# \"%.*s\"\n",
		guid, guid, host->ports, guid, topology_node_name(topology, port), host->name);
	for (;; port.device = topology->host_at[port.device].next) {
		write_port(topology, port, out);
		if (topology->host_at[port.device].next == 0)
			return;
	}
}

static struct topology *read_listing(bool twice, const char *text, size_t length,
	const char *origin, struct topology_import *import, struct error *error)
{
	struct topology *topology = NULL;
	struct ib_listing listing;
	int result = ib_listing_read(&listing, text, length, origin, import, error);

	listing.twice = twice;
	if (result == 0)
		topology = ib_listing_topology(&listing, import, error);
	else
		errno = -result;
	ib_listing_free(&listing);
	return topology;
}

static struct topology *read_ibnetdiscover(const char *text, size_t length, const char *origin,
	struct topology_import *import, struct error *error)
{
	return read_listing(true, text, length, origin, import, error);
}

static struct topology *read_ibsim(const char *text, size_t length, const char *origin,
	struct topology_import *import, struct error *error)
{
	return read_listing(false, text, length, origin, import, error);
}

static int write_ibnetdiscover(const struct topology *topology, FILE *out, struct error *error)
{
	fprintf(out, "#\n# Topology file: %s, from weft\n#\n", topology->name);
	for (uint32_t s = 0; s < topology->switches; s++)
		write_switch(topology, s, out);
	for (uint32_t h = 0; h < topology->hosts; h++)
		write_host(topology, h, out);
	return 0;
}

const struct topology_format format_ibnetdiscover = {
	.name = "ibnetdiscover",
	.help = "InfiniBand cabling",
	.write = write_ibnetdiscover,
	.read = read_ibnetdiscover,
};

const struct topology_format format_ibsim = {
	.name = "ibsim",
	.help = "fabric file of ibsim: like ibnetdiscover, with width, speed and include",
	.write = write_ibnetdiscover,
	.read = read_ibsim,
};
