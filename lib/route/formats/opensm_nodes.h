/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Nodes of an InfiniBand network as its dumps identify them. The LIDs and GUIDs of the listing
 * decide, if it has them. Otherwise descriptions do, as importing a listing spells them: one that
 * two nodes have is refused. */

#include "base/arrays.h"
#include "topo/formats/ib_counters.h"
#include "topo/formats/listing_reader.h"

#define OPENSM_UNKNOWN (-1)
#define OPENSM_LIDS    65536
#define OPENSM_PORTS   256

struct opensm_nodes {
	const struct topology *topology;
	const struct ib_addresses *addresses; /* sorted; or NULL */
	bool by_lid;                          /* the addresses have LIDs */
	int32_t *of_lid[2];                   /* [kind][LID]: device */
	uint32_t *lid[2];                     /* [kind][device]; 0: unknown */
	uint64_t *guid;                       /* by switch; 0: unknown */
	uint32_t unknown;                     /* nodes and entries that are not in the topology */
	struct arrays arrays;
};

/* 'addresses' (ib_addresses_sort()) may be NULL, and must outlive the nodes. Returns 0 or
 * -ENOMEM. */
int opensm_nodes_init(struct opensm_nodes *nodes, const struct topology *topology,
	const struct ib_addresses *addresses);
void opensm_nodes_fini(struct opensm_nodes *nodes);

/* Sets '*device' to the node's device, or to OPENSM_UNKNOWN, which is counted. 0; -ERANGE if two
 * nodes have its description. */
int opensm_nodes_find(struct opensm_nodes *nodes, struct listing_reader *reader,
	const struct listing_node *node, int32_t *device);
/* The number of each port of a switch in the topology, counted from 1; 0: it has no cable. */
void opensm_nodes_ports(
	const struct opensm_nodes *nodes, uint32_t at, uint8_t port_at[OPENSM_PORTS]);
/* Notes how many were unknown since the last call, or refuses them if strict. Returns 0 or
 * -EINVAL. */
int opensm_nodes_check(struct opensm_nodes *nodes, const char *origin,
	struct topology_import *import, struct error *error);

/* The rest of the line, up to its last 'end'. */
struct ib_text opensm_description(const struct listing_reader *reader, char end);
