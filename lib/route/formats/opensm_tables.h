/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables of an InfiniBand network in the formats of its tools: dump_fts and ibroute,
 * which name nodes, or opensm.fdbs, which has GUIDs and LIDs and requires OpenSM's
 * opensm-subnet.lst or the addresses of the listing. Port n is port n - 1 of the topology, unless
 * the addresses specify otherwise. */

#include <stdio.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "route/route_table.h"
#include "route_file.h"
#include "topo/formats/ib_counters.h"
#include "topo/formats/listing_reader.h"
#include "topo/topology.h"

/* Identifies the nodes of an InfiniBand network in its dumps: by LID and GUID if the listing has
 * them, otherwise by description, spelled as in an imported listing. A description that two nodes
 * share is an error. The ports of a host share one description, and have ascending GUIDs. */

#define OPENSM_UNKNOWN (-1)
#define OPENSM_LIDS    65536
#define OPENSM_PORTS   256

struct opensm_nodes {
	const struct topology *topology;
	const struct ib_addresses *addresses; /* sorted; NULL: none */
	bool by_lid;                          /* the addresses include LIDs */
	int32_t *of_lid[2];                   /* [kind][LID]: device index */
	uint32_t *lid[2];                     /* [kind][device]; 0: unknown */
	uint64_t *guid[2]; /* [kind][device]; for hosts the port GUID; 0: unknown */
	uint32_t unknown;  /* number of nodes and entries that are not in the topology */
	uint32_t further;  /* number of entries for LIDs of a host other than its first (LMC) */
	struct arrays arrays;
};

/* Initialises the nodes. 'addresses' (ib_addresses_sort()) may be NULL, and must outlive the nodes.
 * Returns 0 or -ENOMEM. */
int opensm_nodes_init(struct opensm_nodes *nodes, const struct topology *topology,
	const struct ib_addresses *addresses);
void opensm_nodes_fini(struct opensm_nodes *nodes);

/* Sets '*device' to the node's device, or to OPENSM_UNKNOWN, and counts unknown nodes. Returns 0,
 * or -ERANGE if two nodes share its description. */
int opensm_nodes_find(struct opensm_nodes *nodes, struct listing_reader *reader,
	const struct listing_node *node, int32_t *device);
/* Returns the host whose first LID this is, else OPENSM_UNKNOWN. */
int32_t opensm_nodes_host(struct opensm_nodes *nodes, uint32_t lid);
/* Fills in the topology's port number, counted from 1, for each port of a switch; 0: no cable. */
void opensm_nodes_ports(
	const struct opensm_nodes *nodes, uint32_t at, uint8_t port_at[OPENSM_PORTS]);
/* Reports further LIDs since the last call as a note, and unknown nodes as a note or, if strict, as
 * an error. Returns 0 or -EINVAL. */
int opensm_nodes_check(struct opensm_nodes *nodes, const char *origin,
	struct topology_import *import, struct error *error);

/* Returns the rest of the line, up to the last 'end'. */
struct ib_text opensm_description(const struct listing_reader *reader, char end);

struct opensm_tables_input {
	const char *text, *origin; /* 'length' bytes */
	size_t length;
	const char *subnet,
		*subnet_origin; /* opensm-subnet.lst of 'subnet_length' bytes; NULL: none */
	size_t subnet_length;
};

/* Reads the tables. Nodes that are not in the topology are skipped with a note or, with
 * import->strict, are an error. The caller owns the table; NULL with errno EINVAL, ERANGE or
 * ENOMEM. */
struct route_table *opensm_tables_read(struct opensm_nodes *nodes,
	const struct opensm_tables_input *input, struct topology_import *import,
	struct error *error);

/* Virtual lanes of imported tables. opensm-sl2vl.dump of OpenSM, or the output of 'smpquery sl2vl'
 * for every switch and port, defines the lane of each service level (SL) between two ports of a
 * switch. opensm-path-records.dump defines the SL of each pair. Each route uses a single lane,
 * which becomes its layer of VCs (VC_STEPS_LAYERS). */

struct opensm_lanes_input {
	const char *map, *map_origin; /* 'map_length' bytes */
	size_t map_length;
	const char *records, *records_origin; /* NULL: all pairs have SL 0 */
	size_t records_length;
};

/* Creates the routes along the tables, which must have been read with the same nodes, because
 * smpquery's output has only LIDs. Pairs that the tables do not connect have no route. Unknown
 * nodes are skipped with a note or, if strict, are an error. Returns NULL with errno ERANGE,
 * ENOMEM, or EINVAL (also if a path changes its lane or uses one above 7). The caller owns the set.
 */
struct route_set *opensm_lanes_read(struct opensm_nodes *nodes, const struct route_table *table,
	const struct opensm_lanes_input *input, struct topology_import *import,
	struct error *error);

/* Writes destination tables in OpenSM's dump format, so that independent tools can check them:
 * ibdmchk finds pairs without a route and credit loops. It reads two files, the cabling
 * (opensm-subnet.lst) and the tables (opensm.fdbs). The files contain only what ibdmchk reads.
 *
 * InfiniBand counts ports from 1 and reserves 0 for the switch itself, so port n becomes n + 1.
 * Host h has LID h + 1; switch s has the number of hosts + s + 1. GUIDs are the same as in 'weft
 * topo export --format ibnetdiscover'. */

/* Unicast LIDs are 1 to 0xBFFF. */
#define OPENSM_LID_MAX 0xBFFF

/* Writes the cabling, one line per direction of a link. Returns 0, or -EINVAL if there are not
 * enough LIDs. The caller checks 'out' for errors. */
int opensm_dump_subnet(const struct topology *topology, FILE *out, struct error *error);

/* Writes the switches' tables, with entries for hosts and the switch itself, but not for
 * unreachable destinations. Returns 0, or -EINVAL if the table does not match the size of the
 * topology, needs VC classes, which the dump cannot express, or there are not enough LIDs. */
int opensm_dump_tables(const struct topology *topology, const struct route_table *table, FILE *out,
	struct error *error);

/* The pairs without a route, for reports: after failures, they are a result, not an error. */

struct route_gaps {
	uint64_t pairs; /* ordered pairs of hosts without a route */
	uint64_t other; /* pairs without a cut-off host */
	uint64_t apart; /* number of pairs of host ports in separate planes, not in 'pairs' */
	uint32_t source, destination; /* first pair of 'other' */
	uint32_t *cut_off;            /* hosts without a route in either direction */
	uint32_t cut_offs;
};

/* Finds pairs without a route in the set, or in the table of the source's switch. The caller frees
 * the gaps. Returns 0 or -ENOMEM. */
int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps);
void route_gaps_free(struct route_gaps *gaps);

/* Writes one line with the hosts that are cut off and the number of other pairs without a route. */
void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size);
