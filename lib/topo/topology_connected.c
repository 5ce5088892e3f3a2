/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "topology.h"
#include "topology_hosts.h"

struct reach {
	const struct topology *topology;
	bool *seen;      /* reached switches */
	uint32_t *queue; /* capacity for all switches */
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

/* Returns true if two hosts can reach each other: they have ports in the same plane. */
static bool share_plane(
	const struct topology *topology, const uint32_t *plane, uint32_t a, uint32_t b)
{
	for (uint32_t i = a;; i = topology->host_at[i].next) {
		for (uint32_t j = b;; j = topology->host_at[j].next) {
			if (plane[i] == plane[j] && plane[i] != TOPOLOGY_NO_PLANE)
				return true;
			if (topology->host_at[j].next == 0)
				break;
		}
		if (topology->host_at[i].next == 0)
			return false;
	}
}

/* Returns true if one plane contains all hosts, which is the usual case. */
static bool all_share(const struct topology *topology, const uint32_t *plane)
{
	for (uint32_t i = topology->host_at[0].owner;; i = topology->host_at[i].next) {
		uint32_t hosts = 0, port;

		for (uint32_t h = 0; h < topology->hosts; h++) {
			if (topology->host_at[h].owner != h)
				continue;
			for (port = h;
				plane[port] != plane[i] && topology->host_at[port].next != 0;)
				port = topology->host_at[port].next;
			hosts += plane[port] == plane[i] && plane[i] != TOPOLOGY_NO_PLANE;
		}
		if (hosts == topology->nodes)
			return true;
		if (topology->host_at[i].next == 0)
			return false;
	}
}

static int check_planes(const struct topology *topology, const char *origin, struct error *error)
{
	uint32_t *plane = malloc((topology->hosts + 1u) * sizeof(*plane));
	int result = plane != NULL ? topology_planes(topology, plane) : -ENOMEM;
	char a_name[TOPOLOGY_NAME_MAX], b_name[TOPOLOGY_NAME_MAX];
	bool done = result == 0 && all_share(topology, plane);

	if (result < 0)
		error_set(error, ENOMEM, "%s: out of memory", origin);
	for (uint32_t a = 0; result == 0 && !done && a < topology->hosts; a++)
		for (uint32_t b = a + 1; b < topology->hosts && result == 0; b++) {
			if (topology->host_at[a].owner != a || topology->host_at[b].owner != b ||
				share_plane(topology, plane, a, b))
				continue;
			topology_host_name(topology, a, a_name);
			topology_host_name(topology, b, b_name);
			result = error_at(error, origin, topology->host_at[b].line, 0,
				"host %s cannot be reached from host %s: no cables lead from a "
				"port of one to a port of the other",
				b_name, a_name);
		}
	free(plane);
	return result;
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
	int result;

	if (topology_has_rails(topology))
		return check_planes(topology, origin, error);
	result = reach_init(&reach, topology);
	if (result < 0)
		error_set(error, ENOMEM, "%s: out of memory", origin);
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

/* New numbers of the remaining devices, by old number. */
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
		error_set(error, ENOMEM, "%s: not enough memory for a copy", topology->name);
	arrays_free(&numbers.arrays);
	if (result == 0)
		return copy;
	topology_destroy(copy);
	errno = -result;
	return NULL;
}

static int refuse_name(const struct topology *topology, const char *text, struct error *error)
{
	char hint[DID_YOU_MEAN_HINT];

	return error_set(error, EINVAL,
		"'%.80s' is neither a port such as s0:3, a switch nor a host%s", text,
		topology_nearest_device(topology, text, hint));
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
		return error_set(error, EINVAL, "port %.80s has no link to remove", text);
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
		result = error_set(
			error, ENOMEM, "%s: not enough memory for a copy", topology->name);
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
