/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib_builder.h"
#include "ib_counters.h"
#include "ib_listing.h"
#include "topo/topology_hosts.h"

/* Builds the network from the listing of ibnetdiscover:
 *     find each far end, and keep the cables whose ends agree;
 *     leave out everything that takes no part in traffic or is not connected to the rest;
 *     number the switches in file order, then the channel adapters with cables, which
 *         become hosts with the cabled ports;
 *     name devices after their descriptions;
 *     link them. */

static int compare_host_ends(const void *a, const void *b)
{
	return ib_compare_ends(*(const struct ib_end *)a, *(const struct ib_end *)b);
}

/* Code with one word per set of ports supports TOPOLOGY_PORTS_RUN ports per switch. Cables in later
 * ports therefore get the numbers of ports without a cable, unless there are too many cables. */
static void number_ports(struct ib_builder *builder, uint32_t number, const bool *cabled)
{
	const struct ib_node *node = &builder->listing->node_at[number];
	uint8_t *port_at = &builder->port_at[(size_t)number * IB_PORTS];
	struct error note;
	unsigned last = 0, cables = 0, spare = 1;

	for (unsigned port = 1; port < IB_PORTS; port++) {
		port_at[port] = (uint8_t)(port - 1);
		cables += cabled[port];
		if (cabled[port])
			last = port;
	}
	port_at[0] = cables > TOPOLOGY_PORTS_RUN ? TOPOLOGY_PORTS_MAX : TOPOLOGY_PORTS_RUN;
	if (last <= port_at[0])
		return;
	for (unsigned port = TOPOLOGY_PORTS_RUN + 1; port < IB_PORTS; port++) {
		port_at[port] = TOPOLOGY_PORTS_MAX; /* no port */
		if (!cabled[port])
			continue;
		while (cabled[spare])
			spare++;
		port_at[port] = (uint8_t)(spare - 1);
		port_at[spare++] = TOPOLOGY_PORTS_MAX;
	}
	error_at(&note, node->origin, node->line, node->column,
		"\"%.*s\" has a cable in port %u; cables in ports above %u get the numbers of ports "
		"without one",
		ib_shown(node->name), node->name.start, last, TOPOLOGY_PORTS_RUN);
	topology_import_note(builder->import, &note);
}

static int number_all_ports(struct ib_builder *builder)
{
	uint32_t nodes = builder->listing->nodes;
	bool *cabled = calloc((size_t)nodes * IB_PORTS, sizeof(*cabled));

	if (cabled == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < builder->cables; i++) {
		const struct ib_cable *cable = &builder->cable[i];

		cabled[(size_t)cable->a.node * IB_PORTS + cable->a.port] = true;
		cabled[(size_t)cable->b.node * IB_PORTS + cable->b.port] = true;
	}
	for (uint32_t i = 0; i < nodes; i++)
		if (builder->listing->node_at[i].kind == DEVICE_SWITCH)
			number_ports(builder, i, &cabled[(size_t)i * IB_PORTS]);
	free(cabled);
	return 0;
}

static void number_devices(struct ib_builder *builder)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < builder->listing->nodes; i++)
		if (builder->listing->node_at[i].kind == DEVICE_SWITCH && !builder->left_out[i])
			builder->number[i] = builder->switches++;
		else
			builder->number[i] = IB_NONE;
	for (uint32_t i = 0; i < builder->cables; i++) {
		if (ib_is_host(builder, builder->cable[i].a))
			builder->host[builder->hosts++] = builder->cable[i].a;
		if (ib_is_host(builder, builder->cable[i].b))
			builder->host[builder->hosts++] = builder->cable[i].b;
	}
	qsort(builder->host, builder->hosts, sizeof(*builder->host), compare_host_ends);
	for (uint32_t i = 0; i < builder->hosts; i++)
		if (kept == 0 || ib_compare_ends(builder->host[kept - 1], builder->host[i]) != 0)
			builder->host[kept++] = builder->host[i];
	builder->hosts = kept;
}

/* Returns the number of cabled ports of an adapter. 'first' is the index of the first of them. */
static uint32_t count_ports(const struct ib_builder *builder, uint32_t first)
{
	uint32_t end = first;

	while (end < builder->hosts && builder->host[end].node == builder->host[first].node)
		end++;
	return end - first;
}

/* Numbers entries as topology_split_hosts() does: first ports, second ports, and so on. */
static int number_entries(struct ib_builder *builder)
{
	uint32_t next = 0;

	for (unsigned rail = 0; rail < TOPOLOGY_HOST_PORTS_MAX; rail++)
		for (uint32_t first = 0, ports; first < builder->hosts; first += ports) {
			const struct ib_node *node =
				&builder->listing->node_at[builder->host[first].node];

			ports = count_ports(builder, first);
			if (ports > TOPOLOGY_HOST_PORTS_MAX)
				return error_at(builder->error, node->origin, node->line,
					node->column,
					"\"%.*s\" has cables in %u ports; a host "
					"can have at most %u",
					ib_shown(node->name), node->name.start, ports,
					TOPOLOGY_HOST_PORTS_MAX);
			builder->nodes += rail == 0;
			if (rail < ports)
				builder->entry[first + rail] = next++;
		}
	return 0;
}

static struct topology_port device_port(const struct ib_builder *builder, struct ib_end end)
{
	const struct ib_end *host;

	if (!ib_is_host(builder, end))
		return (struct topology_port){DEVICE_SWITCH, builder->number[end.node],
			builder->port_at[(size_t)end.node * IB_PORTS + end.port]};
	host = bsearch(&end, builder->host, builder->hosts, sizeof(end), compare_host_ends);
	return (struct topology_port){DEVICE_HOST, builder->entry[host - builder->host], 0};
}

static int name_switch(const struct ib_builder *builder, struct topology *topology,
	struct unique_names *names, uint32_t number)
{
	const struct ib_node *node = &builder->listing->node_at[number];
	struct topology_device *device = &topology->switch_at[builder->number[number]];
	unsigned max = builder->port_at[(size_t)number * IB_PORTS];

	device->ports = (uint8_t)(node->ports < max ? node->ports : max);
	device->line = node->line;
	return unique_names_add(names, node->name.start, node->name.length, "", device->name);
}

/* Leaves space for a port number and for a number that makes the name unique. */
#define HOST_NAME_MAX (TOPOLOGY_NAME_MAX - 8)

static int name_host(const struct ib_builder *builder, struct topology *topology,
	struct unique_names *names, uint32_t *first)
{
	const struct ib_node *node = &builder->listing->node_at[builder->host[*first].node];
	struct topology_device *device = &topology->host_at[builder->entry[*first]];
	uint32_t length = node->name.length;

	device->ports = (uint8_t)count_ports(builder, *first);
	device->line = node->line;
	*first += device->ports;
	if (device->ports > 1 && length > HOST_NAME_MAX)
		length = HOST_NAME_MAX;
	return unique_names_add(names, node->name.start, length, "", device->name);
}

/* Names devices in file order, so that the first of several equal names is unchanged. */
static int name_devices(const struct ib_builder *builder, struct topology *topology)
{
	struct unique_names *names = unique_names_create();
	uint32_t host = 0;
	int result = names != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < builder->listing->nodes && result == 0; i++)
		if (builder->number[i] != IB_NONE)
			result = name_switch(builder, topology, names, i);
		else if (host < builder->hosts && builder->host[host].node == i)
			result = name_host(builder, topology, names, &host);
	unique_names_destroy(names);
	return result;
}

static int link_devices(const struct ib_builder *builder, struct topology *topology)
{
	int result = 0;

	for (uint32_t i = 0; i < builder->cables && result == 0; i++) {
		const struct ib_cable *cable = &builder->cable[i];

		result = topology_add_link(topology, device_port(builder, cable->a),
			device_port(builder, cable->b), cable->rate_bps, cable->listed->delay_ps,
			cable->listed->line);
	}
	return result;
}

static int note_addresses(const struct ib_builder *builder)
{
	struct ib_addresses *addresses = builder->import->addresses;

	for (uint32_t i = 0; addresses != NULL && i < builder->listing->ports; i++) {
		const struct ib_port *port = &builder->listing->port_at[i];
		const struct ib_node *node = &builder->listing->node_at[port->node];
		struct ib_end end = {port->node, port->port};

		if (ib_is_host(builder, end) ? bsearch(&end, builder->host, builder->hosts,
						       sizeof(end), compare_host_ends) == NULL
					     : builder->number[port->node] == IB_NONE)
			continue;
		if (!array_reserve(&addresses->at, &addresses->room, addresses->count + 1u,
			    sizeof(*addresses->at)))
			return -ENOMEM;
		addresses->at[addresses->count++] =
			(struct ib_address){.guid = port->guid != 0 ? port->guid : node->guid,
				.lid = port->lid != 0 ? port->lid : node->lid,
				.port = port->port,
				.at = device_port(builder, end)};
	}
	return 0;
}

static void name_topology(const char *origin, char name[TOPOLOGY_NAME_MAX])
{
	const char *slash = strrchr(origin, '/'), *start = slash != NULL ? slash + 1 : origin;
	const char *dot = strchr(start + (start[0] != '\0'), '.');

	unique_names_spell(start, dot != NULL ? (size_t)(dot - start) : strlen(start), "", name);
}

static int check_size(const struct ib_builder *builder)
{
	if (builder->switches > TOPOLOGY_SWITCHES_MAX || builder->hosts > TOPOLOGY_HOSTS_MAX)
		return error_set(builder->error, EINVAL,
			"%s: %u switches and %u hosts; at most %u and %u are allowed",
			builder->listing->origin, builder->switches, builder->hosts,
			TOPOLOGY_SWITCHES_MAX, TOPOLOGY_HOSTS_MAX);
	return 0;
}

static int make(const struct ib_builder *builder, struct topology **made)
{
	char name[TOPOLOGY_NAME_MAX];
	struct topology *topology;
	int result = check_size(builder);

	if (result < 0)
		return result;
	name_topology(builder->listing->origin, name);
	topology = topology_create(name, builder->switches, builder->nodes);
	if (topology == NULL)
		return -ENOMEM;
	for (uint32_t i = builder->cables; i-- > 0;)
		if (builder->cable[i].rate_bps != 0)
			topology->default_rate_bps = builder->cable[i].rate_bps;
	result = name_devices(builder, topology);
	if (result == 0)
		result = topology_split_hosts(topology, builder->listing->origin, builder->error);
	if (result == 0)
		result = link_devices(builder, topology);
	if (result == 0)
		result = note_addresses(builder);
	if (result == 0)
		result = topology_finish(topology, builder->listing->origin, builder->error);
	if (result < 0)
		topology_destroy(topology);
	else
		*made = topology;
	return result;
}

static int allocate(struct ib_builder *builder)
{
	size_t nodes = builder->listing->nodes, ports = builder->listing->ports;

	ARRAYS_ADD(builder, by_id, nodes);
	ARRAYS_ADD(builder, same, nodes);
	ARRAYS_ADD(builder, number, nodes);
	ARRAYS_ADD(builder, part, nodes);
	ARRAYS_ADD(builder, left_out, nodes);
	ARRAYS_ADD(builder, port_at, nodes * IB_PORTS);
	ARRAYS_ADD(builder, by_end, ports);
	ARRAYS_ADD(builder, peer, ports);
	ARRAYS_ADD(builder, cable, ports);
	ARRAYS_ADD(builder, host, 2 * ports);
	ARRAYS_ADD(builder, entry, 2 * ports);
	return builder->arrays.failed ? -ENOMEM : 0;
}

static int build(struct ib_builder *builder, struct topology **made)
{
	int result;

	if (builder->listing->nodes == 0)
		return error_set(builder->error, EINVAL,
			"%s: contains no nodes; use a network listing", builder->listing->origin);
	result = allocate(builder);
	if (result == 0)
		result = ib_find_cables(builder);
	if (result == 0)
		result = ib_leave_out(builder);
	if (result == 0)
		result = number_all_ports(builder);
	if (result < 0)
		return result;
	number_devices(builder);
	if (builder->switches == 0 && builder->hosts == 0)
		return error_set(builder->error, EINVAL,
			"%s: contains neither switches nor connected nodes",
			builder->listing->origin);
	result = number_entries(builder);
	return result == 0 ? make(builder, made) : result;
}

struct topology *ib_listing_topology(
	struct ib_listing *listing, struct topology_import *import, struct error *error)
{
	struct ib_builder builder = {.listing = listing, .import = import, .error = error};
	struct topology *topology = NULL;
	int result = build(&builder, &topology);

	if (result == -ENOMEM)
		error_set(error, ENOMEM, "%s: not enough memory for %u nodes", listing->origin,
			listing->nodes);
	arrays_free(&builder.arrays);
	errno = -result;
	return topology;
}

#define MBPS ((uint64_t)1000 * 1000)

/* Rate of one lane. FDR10 has the same rate as QDR but is less widely known, so it follows. */
static const struct {
	const char *name;
	uint64_t lane_bps;
	bool written; /* ibsim supports it */
} speeds[] = {
	{"SDR", 2500 * MBPS, true},
	{"DDR", 5000 * MBPS, true},
	{"QDR", 10000 * MBPS, true},
	{"FDR10", 10000 * MBPS, false},
	{"FDR", 14000 * MBPS, true},
	{"EDR", 25000 * MBPS, true},
	{"HDR", 50000 * MBPS, true},
	{"NDR", 100000 * MBPS, true},
	{"XDR", 200000 * MBPS, false},
};

static const struct {
	const char *name; /* as read and written */
	unsigned lanes;
} widths[] = {{"4x", 4}, {"1x", 1}, {"2x", 2}, {"8x", 8}, {"12x", 12}};

#define SPEEDS (sizeof(speeds) / sizeof(speeds[0]))
#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps)
{
	for (unsigned w = 0; w < WIDTHS; w++)
		for (unsigned s = 0; s < SPEEDS; s++) {
			size_t digits = strlen(widths[w].name), letters = strlen(speeds[s].name);

			if (length != digits + letters ||
				memcmp(text, widths[w].name, digits) != 0 ||
				memcmp(text + digits, speeds[s].name, letters) != 0)
				continue;
			*rate_bps = speeds[s].lane_bps * widths[w].lanes;
			return true;
		}
	return false;
}

bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT])
{
	uint64_t best = 0;

	snprintf(text, IB_RATE_TEXT, "1xSDR");
	for (unsigned w = 0; w < WIDTHS; w++)
		for (unsigned s = 0; s < SPEEDS; s++) {
			uint64_t rate = speeds[s].lane_bps * widths[w].lanes;

			if (!speeds[s].written || rate > rate_bps || rate <= best)
				continue;
			best = rate;
			snprintf(text, IB_RATE_TEXT, "%s%s", widths[w].name, speeds[s].name);
		}
	return best == rate_bps;
}

uint64_t ib_rate_of(uint8_t width_bits, uint8_t speed_bits)
{
	/* As in ibsim, the widest is chosen, then the fastest. */
	static const struct {
		uint8_t bit;
		unsigned lanes;
	} by_width[] = {{8, 12}, {4, 8}, {2, 4}, {16, 2}, {1, 1}};

	for (unsigned w = 0; w < sizeof(by_width) / sizeof(by_width[0]); w++)
		for (unsigned s = 3; s-- > 0;)
			if ((width_bits & by_width[w].bit) != 0 && (speed_bits & 1u << s) != 0)
				return (uint64_t)by_width[w].lanes * (2500 * MBPS << s);
	return 0;
}
