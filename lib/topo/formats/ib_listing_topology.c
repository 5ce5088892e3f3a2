/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Builds the network from the listing of ibnetdiscover:
 *     find each far end, and check that both ends agree;
 *     number the switches in the order of the file, then the connected ports of channel adapters,
 *         each of which is a host;
 *     name them after their descriptions;
 *     link them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"
#include "ib_listing.h"

#define NOBODY UINT32_MAX
#define SHOWN  40 /* characters of the input in a message */

/* A port, either with a line of its own or known only as a far end. */
struct end {
	uint32_t node;
	unsigned port;
};

struct cable {
	struct end a, b;
	uint64_t rate_bps;
	uint32_t line;
};

struct builder {
	const struct ib_listing *listing;
	struct fault *fault;
	uint32_t *by_id;  /* nodes by id */
	uint32_t *by_end; /* listed ports by node and port */
	uint32_t *peer;   /* of each listed port: the node at the far end */
	uint32_t *number; /* of each node that is a switch: the device */
	struct cable *cable;
	struct end *host; /* index is the host number; ordered by node and port */
	uint32_t cables, switches, hosts;
	struct arrays arrays;
};

static int refuse_at(const struct builder *builder, uint32_t line, uint32_t column,
	const char *what, struct ib_text id, const char *why)
{
	return fault_at(builder->fault, builder->listing->origin, line, column, "%s\"%.*s\"%s",
		what, id.length < SHOWN ? (int)id.length : SHOWN, id.start, why);
}

static int compare_texts(struct ib_text a, struct ib_text b)
{
	uint32_t shorter = a.length < b.length ? a.length : b.length;
	int order = memcmp(a.start, b.start, shorter);

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_ends(struct end a, struct end b)
{
	int order = compare_numbers(a.node, b.node);

	return order != 0 ? order : compare_numbers(a.port, b.port);
}

static int compare_node_ids(const void *a, const void *b, void *context)
{
	const struct ib_listing *listing = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_texts(listing->node_at[x].id, listing->node_at[y].id);

	return order != 0 ? order : compare_numbers(x, y);
}

static struct end end_of(const struct ib_listing *listing, uint32_t port)
{
	return (struct end){listing->port_at[port].node, listing->port_at[port].port};
}

static int compare_listed_ends(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_ends(end_of(context, x), end_of(context, y));

	return order != 0 ? order : compare_numbers(x, y);
}

static int compare_host_ends(const void *a, const void *b)
{
	return compare_ends(*(const struct end *)a, *(const struct end *)b);
}

static uint32_t find_node(const struct builder *builder, struct ib_text id)
{
	uint32_t low = 0, high = builder->listing->nodes;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, node = builder->by_id[middle];
		int order = compare_texts(builder->listing->node_at[node].id, id);

		if (order == 0)
			return node;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NOBODY;
}

static uint32_t find_listed(const struct builder *builder, struct end end)
{
	uint32_t low = 0, high = builder->listing->ports;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, port = builder->by_end[middle];
		int order = compare_ends(end_of(builder->listing, port), end);

		if (order == 0)
			return port;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NOBODY;
}

static int index_nodes(struct builder *builder)
{
	const struct ib_listing *listing = builder->listing;

	for (uint32_t i = 0; i < listing->nodes; i++)
		builder->by_id[i] = i;
	qsort_r(builder->by_id, listing->nodes, sizeof(*builder->by_id), compare_node_ids,
		(void *)listing);
	for (uint32_t i = 1; i < listing->nodes; i++) {
		const struct ib_node *first = &listing->node_at[builder->by_id[i - 1]];
		const struct ib_node *second = &listing->node_at[builder->by_id[i]];
		char why[64];

		if (compare_texts(first->id, second->id) != 0)
			continue;
		snprintf(why, sizeof(why), " is in line %u already", first->line);
		return refuse_at(builder, second->line, second->column, "", second->id, why);
	}
	return 0;
}

static int index_ports(struct builder *builder)
{
	const struct ib_listing *listing = builder->listing;

	for (uint32_t i = 0; i < listing->ports; i++)
		builder->by_end[i] = i;
	qsort_r(builder->by_end, listing->ports, sizeof(*builder->by_end), compare_listed_ends,
		(void *)listing);
	for (uint32_t i = 1; i < listing->ports; i++) {
		const struct ib_port *first = &listing->port_at[builder->by_end[i - 1]];
		const struct ib_port *second = &listing->port_at[builder->by_end[i]];

		if (first->node == second->node && first->port == second->port)
			return fault_at(builder->fault, listing->origin, second->line, 1,
				"port %u is in line %u already", second->port, first->line);
	}
	return 0;
}

/* Adds the cable of a listed port, once if both ends have a line. */
static int add_cable(struct builder *builder, uint32_t number)
{
	const struct ib_listing *listing = builder->listing;
	const struct ib_port *port = &listing->port_at[number];
	struct end near = end_of(listing, number), far = {builder->peer[number], port->peer_port};
	uint32_t back = find_listed(builder, far);
	char why[96];

	if (back != NOBODY && (builder->peer[back] != near.node ||
				      listing->port_at[back].peer_port != near.port)) {
		snprintf(why, sizeof(why), "[%u] is linked with something else in line %u",
			far.port, listing->port_at[back].line);
		return refuse_at(builder, port->line, port->column, "", port->peer, why);
	}
	if (back < number)
		return 0;
	builder->cable[builder->cables++] = (struct cable){near, far, port->rate_bps, port->line};
	return 0;
}

static int find_peer(struct builder *builder, uint32_t number)
{
	const struct ib_port *port = &builder->listing->port_at[number];
	uint32_t peer = find_node(builder, port->peer);
	char why[64];

	if (peer == NOBODY)
		return refuse_at(builder, port->line, port->column, "there is no node ", port->peer,
			" in the file");
	if (port->peer_port > builder->listing->node_at[peer].ports) {
		snprintf(why, sizeof(why), " has no port %u, it has %u", port->peer_port,
			builder->listing->node_at[peer].ports);
		return refuse_at(builder, port->line, port->column, "", port->peer, why);
	}
	builder->peer[number] = peer;
	return 0;
}

static bool is_host(const struct builder *builder, struct end end)
{
	return builder->listing->node_at[end.node].kind == DEVICE_HOST;
}

static void number_devices(struct builder *builder)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < builder->listing->nodes; i++)
		if (builder->listing->node_at[i].kind == DEVICE_SWITCH)
			builder->number[i] = builder->switches++;
	for (uint32_t i = 0; i < builder->cables; i++) {
		if (is_host(builder, builder->cable[i].a))
			builder->host[builder->hosts++] = builder->cable[i].a;
		if (is_host(builder, builder->cable[i].b))
			builder->host[builder->hosts++] = builder->cable[i].b;
	}
	qsort(builder->host, builder->hosts, sizeof(*builder->host), compare_host_ends);
	for (uint32_t i = 0; i < builder->hosts; i++)
		if (kept == 0 || compare_ends(builder->host[kept - 1], builder->host[i]) != 0)
			builder->host[kept++] = builder->host[i];
	builder->hosts = kept;
}

static struct topology_port device_port(const struct builder *builder, struct end end)
{
	const struct end *host;

	if (!is_host(builder, end))
		return (struct topology_port){
			DEVICE_SWITCH, builder->number[end.node], (uint8_t)(end.port - 1)};
	host = bsearch(&end, builder->host, builder->hosts, sizeof(end), compare_host_ends);
	return (struct topology_port){DEVICE_HOST, (uint32_t)(host - builder->host), 0};
}

static int name_switch(const struct builder *builder, struct topology *topology,
	struct unique_names *names, uint32_t number)
{
	const struct ib_node *node = &builder->listing->node_at[number];
	struct topology_device *device = &topology->switch_at[builder->number[number]];

	device->ports = (uint8_t)node->ports;
	device->line = node->line;
	return unique_names_add(names, node->name.start, node->name.length, "", device->name);
}

static int name_hosts(const struct builder *builder, struct topology *topology,
	struct unique_names *names, uint32_t *first)
{
	uint32_t number = builder->host[*first].node, start = *first, end = start;
	const struct ib_node *node = &builder->listing->node_at[number];
	int result = 0;

	while (end < builder->hosts && builder->host[end].node == number)
		end++;
	for (; *first < end && result == 0; (*first)++) {
		struct topology_device *device = &topology->host_at[*first];
		char ending[16] = "";

		if (end - start > 1)
			snprintf(ending, sizeof(ending), "-p%u", builder->host[*first].port);
		device->line = node->line;
		result = unique_names_add(
			names, node->name.start, node->name.length, ending, device->name);
	}
	return result;
}

/* In the order of the file, so that the first of equal names keeps its name. */
static int name_devices(const struct builder *builder, struct topology *topology)
{
	struct unique_names *names = unique_names_create();
	uint32_t host = 0;
	int result = names != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < builder->listing->nodes && result == 0; i++)
		if (builder->listing->node_at[i].kind == DEVICE_SWITCH)
			result = name_switch(builder, topology, names, i);
		else if (host < builder->hosts && builder->host[host].node == i)
			result = name_hosts(builder, topology, names, &host);
	unique_names_destroy(names);
	return result;
}

static int link_devices(const struct builder *builder, struct topology *topology)
{
	int result = 0;

	for (uint32_t i = 0; i < builder->cables && result == 0; i++) {
		const struct cable *cable = &builder->cable[i];

		result = topology_add_link(topology, device_port(builder, cable->a),
			device_port(builder, cable->b), cable->rate_bps, WEFT_TIME_NEVER,
			cable->line);
	}
	return result;
}

static void name_topology(const char *origin, char name[TOPOLOGY_NAME_MAX])
{
	const char *slash = strrchr(origin, '/'), *start = slash != NULL ? slash + 1 : origin;
	const char *dot = strchr(start + (start[0] != '\0'), '.');

	unique_names_spell(start, dot != NULL ? (size_t)(dot - start) : strlen(start), "", name);
}

static int check_size(const struct builder *builder)
{
	if (builder->switches > TOPOLOGY_SWITCHES_MAX || builder->hosts > TOPOLOGY_HOSTS_MAX)
		return fault_set(builder->fault, EINVAL,
			"%s: %u switches and %u hosts, at most %u and %u are possible",
			builder->listing->origin, builder->switches, builder->hosts,
			TOPOLOGY_SWITCHES_MAX, TOPOLOGY_HOSTS_MAX);
	return 0;
}

static int make(const struct builder *builder, struct topology **made)
{
	char name[TOPOLOGY_NAME_MAX];
	struct topology *topology;
	int result = check_size(builder);

	if (result < 0)
		return result;
	name_topology(builder->listing->origin, name);
	topology = topology_create(name, builder->switches, builder->hosts);
	if (topology == NULL)
		return -ENOMEM;
	for (uint32_t i = builder->cables; i-- > 0;)
		if (builder->cable[i].rate_bps != 0)
			topology->default_rate_bps = builder->cable[i].rate_bps;
	result = name_devices(builder, topology);
	if (result == 0)
		result = link_devices(builder, topology);
	if (result == 0)
		result = topology_finish(topology, builder->listing->origin, builder->fault);
	if (result < 0)
		topology_destroy(topology);
	else
		*made = topology;
	return result;
}

static int allocate(struct builder *builder)
{
	size_t nodes = builder->listing->nodes, ports = builder->listing->ports;

	ARRAYS_ADD(builder, by_id, nodes);
	ARRAYS_ADD(builder, number, nodes);
	ARRAYS_ADD(builder, by_end, ports);
	ARRAYS_ADD(builder, peer, ports);
	ARRAYS_ADD(builder, cable, ports);
	ARRAYS_ADD(builder, host, 2 * ports);
	return builder->arrays.failed ? -ENOMEM : 0;
}

static int build(struct builder *builder, struct topology **made)
{
	int result;

	if (builder->listing->nodes == 0)
		return fault_set(builder->fault, EINVAL,
			"%s: no node (Switch, Ca, Rt) is in it, expected what ibnetdiscover prints",
			builder->listing->origin);
	result = allocate(builder);
	if (result == 0)
		result = index_nodes(builder);
	if (result == 0)
		result = index_ports(builder);
	for (uint32_t i = 0; i < builder->listing->ports && result == 0; i++)
		result = find_peer(builder, i);
	for (uint32_t i = 0; i < builder->listing->ports && result == 0; i++)
		result = add_cable(builder, i);
	if (result < 0)
		return result;
	number_devices(builder);
	if (builder->switches == 0 && builder->hosts == 0)
		return fault_set(builder->fault, EINVAL,
			"%s: no switch is in it and nothing else is connected, expected a network",
			builder->listing->origin);
	return make(builder, made);
}

struct topology *ib_listing_topology(const struct ib_listing *listing, struct fault *fault)
{
	struct builder builder = {.listing = listing, .fault = fault};
	struct topology *topology = NULL;
	int result = build(&builder, &topology);

	if (result == -ENOMEM)
		fault_set(fault, ENOMEM, "%s: no memory for %u nodes", listing->origin,
			listing->nodes);
	arrays_free(&builder.arrays);
	errno = -result;
	return topology;
}
