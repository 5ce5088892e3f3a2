/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include "topology.h"

#include <errno.h>

#include "base/arrays.h"

struct reach {
	const struct topology *topology;
	bool *seen;      /* switches that were reached */
	uint32_t *queue; /* room for all switches */
	struct arrays arrays;
};

static int reach_init(struct reach *reach, const struct topology *topology)
{
	*reach = (struct reach){.topology = topology};
	ARRAYS_ADD(reach, seen, topology->switches);
	ARRAYS_ADD(reach, queue, topology->switches);
	return reach->arrays.failed ? -ENOMEM : 0;
}

static void reach_from(struct reach *reach, uint32_t start)
{
	uint32_t head = 0, tail = 0;

	if (reach->seen[start])
		return;
	reach->seen[start] = true;
	reach->queue[tail++] = start;
	while (head < tail) {
		struct topology_port port = {DEVICE_SWITCH, reach->queue[head++], 0}, peer;

		for (port.port = 0; port.port < TOPOLOGY_PORTS_MAX; port.port++)
			if (topology_peer(reach->topology, port, &peer) &&
				peer.kind == DEVICE_SWITCH && !reach->seen[peer.device]) {
				reach->seen[peer.device] = true;
				reach->queue[tail++] = peer.device;
			}
	}
}

static bool host_reached(const struct reach *reach, uint32_t host)
{
	struct topology_port at;

	return topology_host_switch(reach->topology, host, &at) && reach->seen[at.device];
}

static void explain(const struct topology *topology, uint32_t host, char *out, size_t size)
{
	struct topology_port first, other;

	if (!topology_host_switch(topology, 0, &first) ||
		!topology_host_switch(topology, host, &other))
		snprintf(out, size, "host %s has no link",
			topology->host_at[topology_host_switch(topology, 0, &first) ? host : 0]
				.name);
	else
		snprintf(out, size, "no links lead from switch %s to switch %s",
			topology->switch_at[other.device].name,
			topology->switch_at[first.device].name);
}

static int refuse(const struct reach *reach, uint32_t host, uint32_t unreachable,
	const char *origin, struct error *error)
{
	const struct topology *topology = reach->topology;
	const struct topology_device *from = &topology->host_at[0], *to = &topology->host_at[host];
	char line[32] = "", why[192], how_many[64] = "";

	if (from->line != 0)
		snprintf(line, sizeof(line), " in line %u", from->line);
	explain(topology, host, why, sizeof(why));
	if (unreachable > 1)
		snprintf(how_many, sizeof(how_many), "; nor can %u other%s of %u hosts",
			unreachable - 1, unreachable == 2 ? "" : "s", topology->hosts);
	return error_at(error, origin, to->line, 0,
		"host %s cannot be reached from host %s%s: %s%s", to->name, from->name, line, why,
		how_many);
}

int topology_check_connected(
	const struct topology *topology, const char *origin, struct error *error)
{
	uint32_t first = 0, unreachable = 0;
	struct topology_port start;
	struct reach reach;
	int result = reach_init(&reach, topology);

	if (result < 0)
		error_set(error, ENOMEM, "%s: no memory", origin);
	else if (topology->hosts > 0 && topology_host_switch(topology, 0, &start))
		reach_from(&reach, start.device);
	for (uint32_t h = topology->hosts; h-- > 1 && result == 0;)
		if (!host_reached(&reach, h)) {
			first = h;
			unreachable++;
		}
	if (unreachable > 0)
		result = refuse(&reach, first, unreachable, origin, error);
	arrays_free(&reach.arrays);
	return result;
}

int topology_unused_switches(const struct topology *topology, uint32_t *first, uint32_t *count)
{
	struct reach reach;
	int result = reach_init(&reach, topology);
	struct topology_port at;

	*first = *count = 0;
	for (uint32_t h = 0; h < topology->hosts && result == 0; h++)
		if (topology_host_switch(topology, h, &at))
			reach_from(&reach, at.device);
	for (uint32_t s = topology->switches; s-- > 0 && result == 0;)
		if (!reach.seen[s]) {
			*first = s;
			(*count)++;
		}
	arrays_free(&reach.arrays);
	return result;
}
