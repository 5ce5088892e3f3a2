/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables of an InfiniBand network as its tools print them: dump_fts and ibroute, which
 * name nodes, or opensm.fdbs, which has GUIDs and LIDs and needs OpenSM's opensm-subnet.lst or the
 * addresses of the listing. Port n is port n - 1 of the topology, unless the addresses say
 * otherwise. */

#include "opensm_nodes.h"
#include "route/route_table.h"

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
