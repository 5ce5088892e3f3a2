/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The steps that turn a listing into a topology, and the state that they share. */

#include "base/arrays.h"
#include "ib_listing.h"

#define IB_NONE  UINT32_MAX
#define IB_PORTS 255 /* port numbers per node, including port 0 */

/* A port that has its own line or occurs only as a far end. */
struct ib_end {
	uint32_t node;
	unsigned port;
};

struct ib_cable {
	struct ib_end a, b;
	uint64_t rate_bps;
	const struct ib_port *listed;
};

struct ib_builder {
	struct ib_listing *listing;
	struct topology_import *import;
	struct error *error;
	uint32_t *by_id;  /* node indices, ordered by id */
	uint32_t *by_end; /* 'listed' port indices, ordered by node and port */
	uint32_t *peer;   /* by listed port: the node at the far end, or IB_NONE */
	uint32_t *same;   /* by node: the first node with the same id */
	uint32_t *number; /* by node: device number of a switch, or IB_NONE */
	uint32_t *part;   /* by node: for a switch, the representative of its connected part */
	bool *left_out;   /* by node */
	/* Port p of switch n becomes device port port_at[n * IB_PORTS + p]. port_at[n * IB_PORTS]
	 * is the maximum number of device ports. */
	uint8_t *port_at;
	struct ib_cable *cable;
	struct ib_end *host; /* cabled ports of adapters, ordered by node and port */
	uint32_t *entry;     /* by index in 'host': the host entry in the topology */
	uint32_t listed, cables, switches, hosts;
	uint32_t nodes; /* number of adapters with ports in 'host' */
	struct arrays arrays;
};

static inline int ib_compare_ends(struct ib_end a, struct ib_end b)
{
	if (a.node != b.node)
		return a.node < b.node ? -1 : 1;
	return (a.port > b.port) - (a.port < b.port);
}

static inline bool ib_is_host(const struct ib_builder *builder, struct ib_end end)
{
	return builder->listing->node_at[end.node].kind == DEVICE_HOST;
}

/* Names the nodes and fills 'cable' with the cables whose ends agree. Returns 0 or -EINVAL. */
int ib_find_cables(struct ib_builder *builder);
/* Leaves out nodes that take no part in the network and, unless strict, everything outside its
 * largest part, with their cables. Returns 0 or -ENOMEM. */
int ib_leave_out(struct ib_builder *builder);
