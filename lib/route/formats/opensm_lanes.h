/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Virtual lanes of imported tables: opensm-sl2vl.dump of OpenSM or the output of 'smpquery sl2vl'
 * for every switch and port, with the lane of each service level (SL) between two ports of a
 * switch, and opensm-path-records.dump, with the SL of each pair. Each route uses a single lane,
 * which becomes its layer of VCs (VC_STEPS_LAYERS). */

#include "opensm_tables.h"

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
