/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "topology_without.h"

#include <errno.h>

#include "base/arrays.h"

/* New numbers of the kept devices by old number. */
struct renumbering {
	uint32_t *switch_at, *host_at;
	uint32_t switches, hosts;
	struct arrays arrays;
};

static bool has_link(const struct topology *topology, uint32_t device)
{
	const int32_t *links = &topology->switch_port_link[(size_t)device * TOPOLOGY_PORTS_MAX];

	for (unsigned port = 0; port < TOPOLOGY_PORTS_MAX; port++)
		if (links[port] >= 0)
			return true;
	return false;
}

static void number(const struct topology *topology, struct renumbering *numbers)
{
	for (uint32_t s = 0; s < topology->switches; s++)
		if (has_link(topology, s))
			numbers->switch_at[s] = numbers->switches++;
	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_link[h] >= 0)
			numbers->host_at[h] = numbers->hosts++;
}

static struct topology_port moved(const struct renumbering *numbers, struct topology_port port)
{
	port.device = port.kind == DEVICE_SWITCH ? numbers->switch_at[port.device]
						 : numbers->host_at[port.device];
	return port;
}

static int fill(
	struct topology *copy, const struct topology *topology, const struct renumbering *numbers)
{
	int result = 0;

	copy->default_rate_bps = topology->default_rate_bps;
	copy->default_delay_ps = topology->default_delay_ps;
	copy->default_given = topology->default_given;
	for (uint32_t s = 0; s < topology->switches; s++)
		if (has_link(topology, s))
			copy->switch_at[numbers->switch_at[s]] = topology->switch_at[s];
	for (uint32_t h = 0; h < topology->hosts; h++)
		if (topology->host_link[h] >= 0)
			copy->host_at[numbers->host_at[h]] = topology->host_at[h];
	for (uint32_t i = 0; i < topology->links && result == 0; i++) {
		const struct topology_link *link = &topology->link_at[i];

		result = topology_add_link(copy, moved(numbers, link->a), moved(numbers, link->b),
			link->rate_bps, link->delay_ps, link->line);
	}
	return result;
}

struct topology *topology_attached(const struct topology *topology, struct error *error)
{
	struct renumbering numbers = {0};
	struct topology *copy = NULL;
	int result = -ENOMEM;

	ARRAYS_ADD(&numbers, switch_at, topology->switches);
	ARRAYS_ADD(&numbers, host_at, topology->hosts);
	if (!numbers.arrays.failed) {
		number(topology, &numbers);
		copy = topology_create(topology->name, numbers.switches, numbers.hosts);
	}
	if (copy != NULL)
		result = fill(copy, topology, &numbers);
	if (result == 0)
		result = topology_finish(copy, topology->name, error);
	else
		error_set(error, ENOMEM, "%s: no memory for a copy", topology->name);
	arrays_free(&numbers.arrays);
	if (result == 0)
		return copy;
	topology_destroy(copy);
	errno = -result;
	return NULL;
}
