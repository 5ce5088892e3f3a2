/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_topo.h"

#include <stdlib.h>

#include "base/file_text.h"
#include "route/formats/opensm_tables.h"

#define INPUT_MAX ((size_t)1 << 30)

/* Returns the file's text; NULL if no file is given, or with '*result' < 0 if reading failed. */
static char *read_text(const char *path, size_t *length, int *result, struct error *error)
{
	char *text = path != NULL && *result == 0 ? file_text_read(path, INPUT_MAX, length, error)
						  : NULL;

	if (path != NULL && *result == 0 && text == NULL)
		*result = -errno;
	return text;
}

static int read_tables(const struct opensm_files *files, struct opensm_nodes *nodes,
	struct topology_import *import, struct route_file *file, struct error *error)
{
	struct opensm_tables_input input = {
		.origin = files->routes, .subnet_origin = files->subnet};
	int result = 0;
	char *text = read_text(files->routes, &input.length, &result, error);
	char *subnet = read_text(files->subnet, &input.subnet_length, &result, error);

	input.text = text;
	input.subnet = subnet;
	if (result == 0)
		file->table = opensm_tables_read(nodes, &input, import, error);
	if (result == 0 && file->table == NULL)
		result = -errno;
	free(text);
	free(subnet);
	return result;
}

/* Adds the routes with virtual lanes. */
static int read_lanes(const struct opensm_files *files, struct opensm_nodes *nodes,
	struct topology_import *import, struct route_file *file, struct error *error)
{
	struct opensm_lanes_input input = {
		.map_origin = files->map, .records_origin = files->records};
	int result = 0;
	char *map = read_text(files->map, &input.map_length, &result, error);
	char *records = read_text(files->records, &input.records_length, &result, error);

	input.map = map;
	input.records = records;
	if (result == 0)
		file->set = opensm_lanes_read(nodes, file->table, &input, import, error);
	if (result == 0 && file->set == NULL)
		result = -errno;
	free(map);
	free(records);
	return result;
}

int opensm_files_read(const struct opensm_files *files, const struct topology *topology,
	struct ib_addresses *addresses, struct topology_import *import, struct route_file *file,
	struct error *error)
{
	struct opensm_nodes nodes;
	int result;

	*file = (struct route_file){.table = NULL};
	if (files->records != NULL && files->map == NULL)
		return error_set(error, EINVAL, "--path-records requires --sl2vl");
	ib_addresses_sort(addresses);
	if (opensm_nodes_init(&nodes, topology, addresses) < 0)
		result = error_set(error, ENOMEM, "out of memory");
	else
		result = read_tables(files, &nodes, import, file, error);
	if (result == 0 && files->map != NULL)
		result = read_lanes(files, &nodes, import, file, error);
	opensm_nodes_fini(&nodes);
	if (result < 0)
		route_file_close(file);
	return result;
}
