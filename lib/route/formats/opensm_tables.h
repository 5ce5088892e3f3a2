/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Destination tables of an InfiniBand network as its tools print them: dump_fts and ibroute, which
 * name nodes, or opensm.fdbs, which has GUIDs and LIDs and needs OpenSM's opensm-subnet.lst. Nodes
 * are found in the topology by the names that importing the listing gives them. Port n is port n -
 * 1 of the topology. */

#include "route/route_table.h"
#include "topo/formats/ib_listing.h"
#include "topo/formats/listing_reader.h"

struct opensm_tables_input {
	const char *text, *origin; /* 'length' bytes */
	size_t length;
	const char *subnet,
		*subnet_origin; /* opensm-subnet.lst of 'subnet_length' bytes; or NULL */
	size_t subnet_length;
};

/* The rest of the line, up to its last 'end'. */
struct ib_text opensm_description(const struct listing_reader *reader, char end);
/* The device that importing the listing named after this description; -1 if there is none. */
int32_t opensm_find_device(
	const struct topology *topology, enum device_kind kind, struct ib_text name);

/* Nodes that are missing from the topology are left out with a note or, with import->strict, are an
 * error. NULL with errno EINVAL or ENOMEM. The caller owns the table. */
struct route_table *opensm_tables_read(const struct topology *topology,
	const struct opensm_tables_input *input, struct topology_import *import,
	struct error *error);
