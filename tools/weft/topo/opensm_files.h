/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Files with the routes in force in an InfiniBand network, for 'weft route import' and 'weft twin'.
 */

#include "route/formats/route_file.h"
#include "topo/formats/ib_counters.h"

struct opensm_files {
	const char *routes, *subnet, *map, *records; /* NULL: not given */
};

/* Where the file after --subnet, --sl2vl or --path-records goes; NULL: another option. */
const char **opensm_files_option(struct opensm_files *files, const char *option);

/* Reads tables or, with 'map', routes in layers of VCs. Sorts the addresses of the listing, if
 * there are any. 0, and the caller closes 'file', or a negative errno with 'error'. */
int opensm_files_read(const struct opensm_files *files, const struct topology *topology,
	struct ib_addresses *addresses, struct topology_import *import, struct route_file *file,
	struct error *error);
