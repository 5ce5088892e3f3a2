/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with several ports: entries of a topology's hosts that belong together. Entries are named
 * HOST:PORT, which no other device can be, so they find each other again after a renumbering. */

#include "topology.h"

#define TOPOLOGY_NO_PLANE 0

/* Makes entries for the further ports of hosts with several (host_at[].ports), behind all others:
 * the first port of host i is entry i, second ports follow in the order of the hosts, and so on.
 * Call it before topology_index_names() and topology_finish(). 0, -ENOMEM, or -EINVAL and error
 * above the limits. */
int topology_split_hosts(struct topology *topology, const char *origin, struct error *error);

/* Groups entries by their names; topology_finish() calls this. -EINVAL if a device has the name of
 * a host with several ports. */
int topology_group_hosts(struct topology *topology, const char *origin, struct error *error);

static inline bool topology_has_rails(const struct topology *topology)
{
	return topology->nodes != topology->hosts;
}

/* The entry of a host's port, by any entry of the host; -1 if there is none. */
int64_t topology_host_port(const struct topology *topology, uint32_t entry, unsigned rail);

/* The entries that a name stands for, of which 'entry' is the first: all ports of a host, or the
 * port that it names. Room for TOPOLOGY_HOST_PORTS_MAX; returns their number. */
uint32_t topology_named_ports(
	const struct topology *topology, uint32_t entry, const char *name, uint32_t *ports);

/* The length of the name of the device that has a port, as topology_device_name(), without the
 * number of a host's port; for "%.*s". */
int topology_node_name(const struct topology *topology, struct topology_port port);

/* The name of the whole host. */
void topology_host_name(
	const struct topology *topology, uint32_t entry, char name[TOPOLOGY_NAME_MAX]);

/* part[switches]: equal for switches that cables connect. The caller frees it; NULL without memory.
 */
uint32_t *topology_parts(const struct topology *topology);

/* Hosts between which cables lead are in one plane: plane[hosts] gets numbers from 1, and
 * TOPOLOGY_NO_PLANE for an entry without a cable. 0 or -ENOMEM. */
int topology_planes(const struct topology *topology, uint32_t *plane);

/* Keeps the planes of a finished topology with rails in its hosts, unless they have some already.
 * 0 or -ENOMEM. */
int topology_keep_planes(struct topology *topology);

/* Planes with a host; 1 if all hosts have one port. */
uint32_t topology_plane_count(const struct topology *topology);

/* Two finished topologies side by side, as parts of one fabric. A host's port is taken from the one
 * in which it has a cable. NULL and error, as topology_multiply(). */
struct topology *topology_join(
	const struct topology *a, const struct topology *b, struct error *error);

/* No cables lead from one entry to the other, and none are missing: separate planes. */
static inline bool topology_apart(const struct topology *topology, uint32_t a, uint32_t b)
{
	uint32_t plane = topology->host_at[a].plane;

	return topology_has_rails(topology) &&
	       (plane != topology->host_at[b].plane || plane == TOPOLOGY_NO_PLANE);
}

/* 'rails' copies of a finished topology with single-port hosts, which share hosts of as many ports.
 * Switches of copy r are named rR-NAME. NULL and error; errno EINVAL, ENOMEM. */
struct topology *topology_multiply(
	const struct topology *plane, const char *name, unsigned rails, struct error *error);
