/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with several ports: the entries in a topology's list of hosts that belong to one host.
 * Their names have the form HOST:PORT, which no other device can have, so they can be regrouped
 * after renumbering. */

#include "topology.h"

#define TOPOLOGY_NO_PLANE 0

/* Appends entries for the remaining ports of hosts with several (host_at[].ports). The first port
 * of host i is entry i, followed by the second ports in the order of the hosts, and so on. Call
 * before topology_index_names() and topology_finish(). Returns 0, -ENOMEM, or, above the limits,
 * -EINVAL with 'error' set. */
int topology_split_hosts(struct topology *topology, const char *origin, struct error *error);

/* Groups entries by name; topology_finish() calls this. Returns -EINVAL if a switch has the name of
 * a host with several ports. */
int topology_group_hosts(struct topology *topology, const char *origin, struct error *error);

static inline bool topology_has_rails(const struct topology *topology)
{
	return topology->nodes != topology->hosts;
}

/* Returns the entry of a host's port, given any entry of the host; -1 if there is no such port. */
int64_t topology_host_port(const struct topology *topology, uint32_t entry, unsigned rail);

/* Writes the entries that a name selects, of which 'entry' is the first: all ports of a host, or
 * one port. 'ports' must have TOPOLOGY_HOST_PORTS_MAX elements. Returns the number of entries. */
uint32_t topology_named_ports(
	const struct topology *topology, uint32_t entry, const char *name, uint32_t *ports);

/* Returns the length, for "%.*s", of the device name of a port without a host port's number. */
int topology_node_name(const struct topology *topology, struct topology_port port);

/* Writes the name of the whole host. */
void topology_host_name(
	const struct topology *topology, uint32_t entry, char name[TOPOLOGY_NAME_MAX]);

/* Returns part[switches], equal for connected switches, or NULL if out of memory. Free it. */
uint32_t *topology_parts(const struct topology *topology);

/* Sets plane[hosts] to plane numbers from 1, the same for connected entries, or to
 * TOPOLOGY_NO_PLANE for an entry without a cable. Returns 0 or -ENOMEM. */
int topology_planes(const struct topology *topology, uint32_t *plane);

/* Sets the planes of hosts in a finished topology with rails, unless set. Returns 0 or -ENOMEM. */
int topology_keep_planes(struct topology *topology);

/* Returns the number of planes with a host; 1 if all hosts have one port. */
uint32_t topology_plane_count(const struct topology *topology);

/* Combines two finished topologies into one with both as separate parts. A host's port is copied
 * from the topology in which it has a cable. Returns NULL like topology_multiply(). */
struct topology *topology_join(
	const struct topology *a, const struct topology *b, struct error *error);

/* Returns true if entries are unconnected by design, because they are in separate planes. */
static inline bool topology_apart(const struct topology *topology, uint32_t a, uint32_t b)
{
	uint32_t plane = topology->host_at[a].plane;

	return topology_has_rails(topology) &&
	       (plane != topology->host_at[b].plane || plane == TOPOLOGY_NO_PLANE);
}

/* Returns 'rails' copies of a finished topology with single-port hosts, joined at hosts with as
 * many ports. Switches of copy r are named rR-NAME. Returns NULL with 'error' and errno (EINVAL,
 * ENOMEM) set. */
struct topology *topology_multiply(
	const struct topology *plane, const char *name, unsigned rails, struct error *error);
