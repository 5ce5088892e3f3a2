/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with several ports: the entries in a topology's list of hosts that belong to one host. They
 * are named HOST:PORT, as no other device can be, so they can be regrouped after a renumbering. */

#include "topology.h"

#define TOPOLOGY_NO_PLANE 0

/* Appends entries for the further ports of hosts with several (host_at[].ports): the first port of
 * host i is entry i, second ports follow in the order of the hosts, and so on. Call it before
 * topology_index_names() and topology_finish(). 0, -ENOMEM, or, above limits, -EINVAL with error
 * set. */
int topology_split_hosts(struct topology *topology, const char *origin, struct error *error);

/* Groups entries by their names; topology_finish() calls this. Returns -EINVAL if a device has the
 * name of a host with several ports. */
int topology_group_hosts(struct topology *topology, const char *origin, struct error *error);

static inline bool topology_has_rails(const struct topology *topology)
{
	return topology->nodes != topology->hosts;
}

/* The entry of a host's port, given any entry of the host; -1 if there is no such port. */
int64_t topology_host_port(const struct topology *topology, uint32_t entry, unsigned rail);

/* The entries that a name means, of which 'entry' is the first: all ports of a host, or one port.
 * 'ports' has TOPOLOGY_HOST_PORTS_MAX elements. Returns the number of entries. */
uint32_t topology_named_ports(
	const struct topology *topology, uint32_t entry, const char *name, uint32_t *ports);

/* The length of the name that topology_device_name() returns for a port, without the number of a
 * host's port; for "%.*s". */
int topology_node_name(const struct topology *topology, struct topology_port port);

/* The name of the whole host. */
void topology_host_name(
	const struct topology *topology, uint32_t entry, char name[TOPOLOGY_NAME_MAX]);

/* part[switches]: equal for connected switches. The caller frees it, or NULL if out of memory. */
uint32_t *topology_parts(const struct topology *topology);

/* Connected entries are in one plane: plane[hosts] gets numbers from 1, and TOPOLOGY_NO_PLANE for
 * an entry without a cable. Returns 0 or -ENOMEM. */
int topology_planes(const struct topology *topology, uint32_t *plane);

/* Stores the planes of a finished topology with rails in its hosts, unless they are set already.
 * Returns 0 or -ENOMEM. */
int topology_keep_planes(struct topology *topology);

/* Number of planes with a host; 1 if all hosts have one port. */
uint32_t topology_plane_count(const struct topology *topology);

/* Two finished topologies side by side, as parts of one fabric. A host's port is taken from the
 * topology in which it has a cable. Returns NULL with error set, as topology_multiply(). */
struct topology *topology_join(
	const struct topology *a, const struct topology *b, struct error *error);

/* Whether entries are unconnected by design, because they are in separate planes. */
static inline bool topology_apart(const struct topology *topology, uint32_t a, uint32_t b)
{
	uint32_t plane = topology->host_at[a].plane;

	return topology_has_rails(topology) &&
	       (plane != topology->host_at[b].plane || plane == TOPOLOGY_NO_PLANE);
}

/* 'rails' copies of a finished topology with single-port hosts, joined at hosts with as many ports.
 * Switches of copy r are named rR-NAME. Returns NULL with error and errno (EINVAL, ENOMEM) set. */
struct topology *topology_multiply(
	const struct topology *plane, const char *name, unsigned rails, struct error *error);
