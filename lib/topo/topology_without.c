/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_without.h"

#include <errno.h>
#include <stdlib.h>

static int refuse_name(const struct topology *topology, const char *text, struct error *error)
{
	const char *nearest = topology_nearest_device(topology, text);

	return error_set(error, EINVAL,
		"'%.80s' is neither a port such as s0:3, a switch nor a host%s%s%s", text,
		nearest != NULL ? ", nearest is '" : "", nearest != NULL ? nearest : "",
		nearest != NULL ? "'" : "");
}

static void mark_switch(const struct topology *topology, uint32_t device, bool *failed_link)
{
	const int32_t *links = &topology->switch_port_link[(size_t)device * TOPOLOGY_PORTS_MAX];

	for (unsigned port = 0; port < TOPOLOGY_PORTS_MAX; port++)
		if (links[port] >= 0)
			failed_link[links[port]] = true;
}

static int mark(
	const struct topology *topology, const char *text, bool *failed_link, struct error *error)
{
	int32_t device = topology_find_switch(topology, text);
	const struct topology_link *link;
	struct topology_port port;

	if (device >= 0) {
		mark_switch(topology, (uint32_t)device, failed_link);
		return 0;
	}
	if (topology_find_port(topology, text, &port) < 0)
		return refuse_name(topology, text, error);
	link = topology_link_at(topology, port);
	if (link == NULL)
		return error_set(
			error, EINVAL, "port %.80s has no link that could be left out", text);
	failed_link[link - topology->link_at] = true;
	return 0;
}

static void remove_links(struct topology *topology, const bool *failed_link)
{
	uint32_t kept = 0;
	struct topology_port at;

	for (uint32_t h = 0; h < topology->hosts; h++) {
		int32_t link = topology->host_link[h];

		if (link < 0 || !failed_link[link])
			continue;
		topology->host_at[h].cut_off = true;
		if (topology_host_switch(topology, h, &at))
			topology->host_at[h].home = at.device + 1;
	}
	for (uint32_t i = 0; i < topology->links; i++)
		if (!failed_link[i])
			topology->link_at[kept++] = topology->link_at[i];
	topology->links = kept;
}

struct topology *topology_without(const struct topology *topology, const char *const *failed,
	size_t count, struct error *error)
{
	struct topology *copy = topology_copy(topology);
	bool *failed_link = calloc((size_t)topology->links + 1, sizeof(*failed_link));
	int result = 0;
	uint32_t kept;

	if (copy == NULL || failed_link == NULL)
		result = error_set(error, ENOMEM, "%s: no memory for a copy", topology->name);
	for (size_t i = 0; i < count && result == 0; i++)
		result = mark(topology, failed[i], failed_link, error);
	if (result == 0) {
		remove_links(copy, failed_link);
		result = topology_finish(copy, topology->name, error);
	}
	free(failed_link);
	if (result < 0) {
		topology_destroy(copy);
		errno = -result;
		return NULL;
	}
	kept = 0;
	for (uint32_t i = 0; i < copy->bindings; i++)
		if (topology_link_at(copy, copy->binding_at[i].port) != NULL)
			copy->binding_at[kept++] = copy->binding_at[i];
	copy->bindings = kept;
	return copy;
}
