/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_web.h"

#include "lab_cable.h"

static json_t *list_switches(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->switches; i++)
		json_array_append_new(list, json_pack("[s,i]", topology->switch_at[i].name,
						    (int)topology->switch_at[i].stage));
	return list;
}

static json_t *list_hosts(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->hosts; i++)
		json_array_append_new(list, json_string(topology->host_at[i].name));
	return list;
}

static json_t *list_links(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		char a[LAB_PORT_MAX], b[LAB_PORT_MAX];

		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		json_array_append_new(list, json_pack("[s,s,I]", a, b, (json_int_t)link->rate_bps));
	}
	return list;
}

json_t *web_topology(const struct topology *topology, const char *lab, unsigned vcs)
{
	return json_pack("{s:s,s:s,s:i,s:o,s:o,s:o}", "lab", lab, "name", topology->name, "vcs",
		(int)vcs, "switches", list_switches(topology), "hosts", list_hosts(topology),
		"links", list_links(topology));
}

int64_t web_way_at(const struct topology *topology, const char *name)
{
	struct topology_port port;

	if (topology_find_port(topology, name, &port) < 0 ||
		topology_link_at(topology, port) == NULL)
		return -1;
	return topology_way_at(topology, port);
}
