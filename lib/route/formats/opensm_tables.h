/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables of an InfiniBand network as its tools print them: dump_fts and ibroute, which
 * name nodes, or opensm.fdbs, which has GUIDs and LIDs and needs OpenSM's opensm-subnet.lst or the
 * addresses of the listing. Port n is port n - 1 of the topology, unless the addresses say
 * otherwise. */

#include <stdio.h>

#include "base/arrays.h"
#include "base/weft_error.h"
#include "route/route_table.h"
#include "route_file.h"
#include "topo/formats/ib_counters.h"
#include "topo/formats/listing_reader.h"
#include "topo/topology.h"

/* Nodes of an InfiniBand network as its dumps identify them. The LIDs and GUIDs of the listing
 * decide, if it has them. Otherwise descriptions do, as importing a listing spells them: one that
 * two nodes have is refused. The ports of a host have one description, and ascending GUIDs. */

#define OPENSM_UNKNOWN (-1)
#define OPENSM_LIDS    65536
#define OPENSM_PORTS   256

struct opensm_nodes {
	const struct topology *topology;
	const struct ib_addresses *addresses; /* sorted; or NULL */
	bool by_lid;                          /* the addresses have LIDs */
	int32_t *of_lid[2];                   /* [kind][LID]: device */
	uint32_t *lid[2];                     /* [kind][device]; 0: unknown */
	uint64_t *guid[2]; /* [kind][device], for hosts the port GUID; 0: unknown */
	uint32_t unknown;  /* nodes and entries that are not in the topology */
	uint32_t further;  /* entries for LIDs of a host after its first (LMC) */
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
/* The host of this LID; OPENSM_UNKNOWN if there is none, or if it is not the host's first. */
int32_t opensm_nodes_host(struct opensm_nodes *nodes, uint32_t lid);
/* The number of each port of a switch in the topology, counted from 1; 0: it has no cable. */
void opensm_nodes_ports(
	const struct opensm_nodes *nodes, uint32_t at, uint8_t port_at[OPENSM_PORTS]);
/* Notes further LIDs since the last call, and unknown nodes, which it refuses if strict. Returns 0
 * or -EINVAL. */
int opensm_nodes_check(struct opensm_nodes *nodes, const char *origin,
	struct topology_import *import, struct error *error);

/* The rest of the line, up to its last 'end'. */
struct ib_text opensm_description(const struct listing_reader *reader, char end);

struct opensm_tables_input {
	const char *text, *origin; /* 'length' bytes */
	size_t length;
	const char *subnet,
		*subnet_origin; /* opensm-subnet.lst of 'subnet_length' bytes; or NULL */
	size_t subnet_length;
};

/* Nodes that are missing from the topology are left out with a note or, with import->strict, are an
 * error. Returns NULL with errno EINVAL, ERANGE or ENOMEM. The caller owns the table. */
struct route_table *opensm_tables_read(struct opensm_nodes *nodes,
	const struct opensm_tables_input *input, struct topology_import *import,
	struct error *error);

/* Virtual lanes of imported tables: opensm-sl2vl.dump of OpenSM or the output of 'smpquery sl2vl'
 * for every switch and port, with the lane of each service level (SL) between two ports of a
 * switch, and opensm-path-records.dump, with the SL of each pair. Each route uses a single lane,
 * which becomes its layer of VCs (VC_STEPS_LAYERS). */

struct opensm_lanes_input {
	const char *map, *map_origin; /* 'map_length' bytes */
	size_t map_length;
	const char *records, *records_origin; /* NULL: all pairs have SL 0 */
	size_t records_length;
};

/* The routes that follow the tables, which must have been read with the same nodes: smpquery's
 * output has only LIDs. Pairs that the tables do not connect have none. Unknown nodes are left out
 * with a note or, if strict, are an error. Returns NULL with errno EINVAL (also if a path changes
 * its lane or takes one above 7), ERANGE or ENOMEM. The caller owns the set. */
struct route_set *opensm_lanes_read(struct opensm_nodes *nodes, const struct route_table *table,
	const struct opensm_lanes_input *input, struct topology_import *import,
	struct error *error);

/* Destination tables in OpenSM's dump format, so that independent tools can check them: ibdmchk
 * finds pairs without a route and credit loops. It reads two files, the cabling (opensm-subnet.lst)
 * and the tables (opensm.fdbs). Write-only; the files contain what ibdmchk reads.
 *
 * InfiniBand counts ports from 1 and reserves 0 for the switch itself: port n becomes n + 1. Host h
 * has LID h + 1, switch s has the number of hosts + s + 1. GUIDs are the same as in 'weft topo
 * export --format ibnetdiscover'. */

/* Unicast LIDs are 1 to 0xBFFF. */
#define OPENSM_LID_MAX 0xBFFF

/* The cabling: a line for each direction of each link. Returns -EINVAL if LIDs run out; the caller
 * checks 'out' for errors. */
int opensm_dump_subnet(const struct topology *topology, FILE *out, struct error *error);

/* The tables of the switches, with entries for hosts and the switch itself but not for unreachable
 * destinations. Returns -EINVAL if the table does not match the topology's size, needs VC classes,
 * which the dump cannot express, or LIDs run out. */
int opensm_dump_tables(const struct topology *topology, const struct route_table *table, FILE *out,
	struct error *error);

/* The pairs that routes or tables leave unreachable, for reports: after failures they are a result,
 * not an error. */

struct route_gaps {
	uint64_t pairs;               /* ordered pairs of hosts without a route */
	uint64_t other;               /* those among them whose hosts are not cut off */
	uint64_t apart;               /* in addition, pairs of host ports in separate planes */
	uint32_t source, destination; /* the first pair of 'other' */
	uint32_t *cut_off;            /* hosts that no host reaches in either direction */
	uint32_t cut_offs;
};

/* Looks in the set, or in the table of the source's switch. May return -ENOMEM. The caller
 * frees. */
int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps);
void route_gaps_free(struct route_gaps *gaps);

/* One line: the hosts that are cut off, and the number of other pairs without a route. */
void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size);
