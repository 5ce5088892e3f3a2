/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The part of a route file that one switch needs: its row of the tables, and the VC classes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forwarding_table.h"
#include "route_file.h"
#include "switch.h"

static int check_ports(const struct topology *topology, const struct forwarding_request *request,
	const uint8_t *row, struct fault *fault)
{
	for (uint32_t host = 0; host < topology->hosts; host++)
		if (row[host] != ROUTE_TABLE_NONE && row[host] >= request->ports)
			return fault_set(fault, EINVAL,
				"%s: %s sends to %s by port %u, expected one of its %u ports",
				request->from, request->name, topology->host_at[host].name,
				row[host], request->ports);
	return 0;
}

static int check_classes(
	const struct vc_rule *rule, const struct forwarding_request *request, struct fault *fault)
{
	if (rule == NULL || rule->classes <= request->vcs)
		return 0;
	return fault_set(fault, EINVAL, "--vcs %u: %s needs %u VC classes, expected so many VCs",
		request->vcs, request->from, rule->classes);
}

static int take_row(struct forwarding_table *table, const struct topology *topology,
	struct route_table *routes, const struct forwarding_request *request, struct fault *fault)
{
	int32_t at = topology_find_switch(topology, request->name);
	const uint8_t *row;
	int result;

	if (at < 0)
		return fault_set(fault, EINVAL, "--name %s: topology %s has no such switch",
			request->name, topology->name);
	row = route_table_row(routes, (uint32_t)at);
	result = check_ports(topology, request, row, fault);
	if (result == 0)
		result = check_classes(routes->vc_rule, request, fault);
	if (result < 0)
		return result;
	_Static_assert(ROUTE_TABLE_NONE == SWITCH_PORT_NONE, "a row is a switch's table");
	table->port = malloc(topology->hosts + 1u);
	if (table->port == NULL)
		return fault_set(fault, ENOMEM, "%s: no memory", request->from);
	memcpy(table->port, row, topology->hosts);
	table->hosts = topology->hosts;
	table->vc_rule = routes->vc_rule;
	table->vc_rule_at = (uint32_t)at;
	routes->vc_rule = NULL;
	return 0;
}

int forwarding_routes_load(struct forwarding_table *table, const struct forwarding_request *request,
	struct fault *fault)
{
	struct topology *topology = topology_open(request->topology, fault);
	struct route_file file = {NULL, NULL};
	int result =
		topology == NULL ? -errno : route_file_load(topology, request->from, &file, fault);

	if (result == 0 && file.table == NULL)
		result = fault_set(fault, EINVAL,
			"%s: source routes, which come in frames; expected tables, as of 'weft "
			"route compute --tables'",
			request->from);
	if (result == 0)
		result = take_row(table, topology, file.table, request, fault);
	route_file_close(&file);
	topology_destroy(topology);
	return result;
}
