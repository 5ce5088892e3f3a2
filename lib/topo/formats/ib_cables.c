/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Turns the lines of a listing into cables: finds each far end and leaves out contradictions. */

#include <stdlib.h>
#include <string.h>

#include "ib_builder.h"

/* Notes an inconsistency at a listed port or, if strict, fails. Returns 0 or -EINVAL. */
static int odd_port(struct ib_builder *builder, const struct ib_port *port, const char *became,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static int odd_port(struct ib_builder *builder, const struct ib_port *port, const char *became,
	const char *format, ...)
{
	struct error odd;
	va_list args;

	va_start(args, format);
	error_at_va(&odd, port->origin, port->line, port->column, format, args);
	va_end(args);
	return topology_import_odd(builder->import, &odd, became, builder->error);
}

static int compare_texts(struct ib_text a, struct ib_text b)
{
	uint32_t shorter = a.length < b.length ? a.length : b.length;
	int order = memcmp(a.start, b.start, shorter);

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_node_ids(const void *a, const void *b, void *context)
{
	const struct ib_listing *listing = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_texts(listing->node_at[x].id, listing->node_at[y].id);

	return order != 0 ? order : (x > y) - (x < y);
}

static struct ib_end end_of(const struct ib_listing *listing, uint32_t port)
{
	return (struct ib_end){listing->port_at[port].node, listing->port_at[port].port};
}

static int compare_listed_ends(const void *a, const void *b, void *context)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = ib_compare_ends(end_of(context, x), end_of(context, y));

	return order != 0 ? order : (x > y) - (x < y);
}

static uint32_t find_node(const struct ib_builder *builder, struct ib_text id)
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
	return IB_NONE;
}

static uint32_t find_listed(const struct ib_builder *builder, struct ib_end end)
{
	uint32_t low = 0, high = builder->listed;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2, port = builder->by_end[middle];
		int order = ib_compare_ends(end_of(builder->listing, port), end);

		if (order == 0)
			return port;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return IB_NONE;
}

/* Sorts the nodes by id. If two have the same id, the second one's ports are added to the first. */
static int index_nodes(struct ib_builder *builder)
{
	struct ib_listing *listing = builder->listing;
	int result = 0;

	for (uint32_t i = 0; i < listing->nodes; i++)
		builder->by_id[i] = builder->same[i] = i;
	qsort_r(builder->by_id, listing->nodes, sizeof(*builder->by_id), compare_node_ids, listing);
	for (uint32_t i = 1; i < listing->nodes && result == 0; i++) {
		uint32_t before = builder->by_id[i - 1], at = builder->by_id[i];
		const struct ib_node *first = &listing->node_at[before];
		const struct ib_node *second = &listing->node_at[at];
		struct error odd;

		if (compare_texts(first->id, second->id) != 0)
			continue;
		builder->same[at] = builder->same[before];
		builder->left_out[at] = true;
		error_at(&odd, second->origin, second->line, second->column,
			"\"%.*s\" is already in line %u", ib_shown(second->id), second->id.start,
			first->line);
		result = topology_import_odd(
			builder->import, &odd, "its ports are added to that node", builder->error);
	}
	for (uint32_t i = 0; i < listing->ports; i++)
		listing->port_at[i].node = builder->same[listing->port_at[i].node];
	return result;
}

/* Names each node without a description after the name that its neighbours use, or after its id. */
static void describe_nodes(struct ib_builder *builder)
{
	struct ib_listing *listing = builder->listing;

	for (uint32_t i = 0; i < listing->ports; i++) {
		uint32_t peer = find_node(builder, listing->port_at[i].peer);

		if (peer != IB_NONE && listing->node_at[builder->same[peer]].name.length == 0)
			listing->node_at[builder->same[peer]].name = listing->port_at[i].peer_name;
	}
	for (uint32_t i = 0; i < listing->nodes; i++)
		if (listing->node_at[i].name.length == 0)
			listing->node_at[i].name = listing->node_at[i].id;
}

/* Sorts the listed ports. If a port has several lines, only the first is used. */
static int index_ports(struct ib_builder *builder)
{
	const struct ib_listing *listing = builder->listing;
	int result = 0;

	for (uint32_t i = 0; i < listing->ports; i++)
		builder->by_end[i] = i;
	qsort_r(builder->by_end, listing->ports, sizeof(*builder->by_end), compare_listed_ends,
		builder->listing);
	for (uint32_t i = 0; i < listing->ports && result == 0; i++) {
		uint32_t at = builder->by_end[i], before = IB_NONE;

		if (builder->listed > 0)
			before = builder->by_end[builder->listed - 1];
		if (before == IB_NONE ||
			ib_compare_ends(end_of(listing, before), end_of(listing, at)) != 0) {
			builder->by_end[builder->listed++] = at;
			continue;
		}
		builder->peer[at] = IB_NONE;
		result = odd_port(builder, &listing->port_at[at], "the line is left out",
			"port %u is already in line %u", listing->port_at[at].port,
			listing->port_at[before].line);
	}
	return result;
}

/* Finds the node at the far end of a listed port. */
static int find_peer(struct ib_builder *builder, uint32_t number)
{
	struct ib_port *port = &builder->listing->port_at[number];
	uint32_t peer = find_node(builder, port->peer);

	builder->peer[number] = IB_NONE;
	if (peer == IB_NONE)
		return odd_port(builder, port, "the line is left out",
			"there is no node \"%.*s\" in the file", ib_shown(port->peer),
			port->peer.start);
	peer = builder->same[peer];
	if (port->peer_port > builder->listing->node_at[peer].ports)
		return odd_port(builder, port, "the line is left out",
			"\"%.*s\" has no port %u; its last port is %u", ib_shown(port->peer),
			port->peer.start, port->peer_port, builder->listing->node_at[peer].ports);
	builder->peer[number] = peer;
	return 0;
}

static bool leads_to(const struct ib_builder *builder, uint32_t port, struct ib_end end)
{
	return builder->peer[port] == end.node &&
	       (builder->listing->port_at[port].peer_port == end.port ||
		       builder->listing->port_at[port].peer_port == 0);
}

/* Returns the port of 'node' whose line leads to 'end'; 1 if there is none. */
static unsigned port_towards(const struct ib_builder *builder, uint32_t node, struct ib_end end)
{
	for (unsigned port = 1; port <= builder->listing->node_at[node].ports; port++) {
		uint32_t back = find_listed(builder, (struct ib_end){node, port});

		if (back != IB_NONE && leads_to(builder, back, end))
			return port;
	}
	return 1;
}

/* ibsim: returns the capabilities of a port, with defaults where its file sets none. */
static void abilities(const struct ib_port *port, uint8_t *widths, uint8_t *speeds)
{
	*widths = port->widths != 0 ? port->widths : IB_WIDTH_4X;
	*speeds = port->speeds != 0 ? port->speeds : IB_SPEED_SDR;
}

/* Returns the best common rate of both ends, or sets 'odd' and returns the slower end's rate. */
static uint64_t negotiated_rate(
	const struct ib_port *near, const struct ib_port *far, const char **odd)
{
	uint8_t widths[2], speeds[2];
	uint64_t rate, other;

	abilities(near, &widths[0], &speeds[0]);
	abilities(far, &widths[1], &speeds[1]);
	rate = ib_rate_of(widths[0] & widths[1], speeds[0] & speeds[1]);
	if (rate != 0)
		return rate;
	*odd = "the two ends have no width and speed in common";
	rate = ib_rate_of(widths[0], speeds[0]);
	other = ib_rate_of(widths[1], speeds[1]);
	return rate < other ? rate : other;
}

/* Returns the rate of a cable, or 0 if no line specifies it. */
static uint64_t cable_rate(const struct ib_port *near, const struct ib_port *far, const char **odd)
{
	if (near->rate_bps != 0 && far->rate_bps != 0 && near->rate_bps != far->rate_bps) {
		*odd = "the two ends have different rates";
		return near->rate_bps < far->rate_bps ? near->rate_bps : far->rate_bps;
	}
	if (near->rate_bps != 0 || far->rate_bps != 0)
		return near->rate_bps != 0 ? near->rate_bps : far->rate_bps;
	if (near->widths + near->speeds + far->widths + far->speeds == 0)
		return 0;
	return negotiated_rate(near, far, odd);
}

/* Returns why a cable cannot be part of a network; NULL if it can. */
static const char *impossible(
	const struct ib_builder *builder, struct ib_end near, struct ib_end far)
{
	const struct ib_node *nodes = builder->listing->node_at;

	if (near.node == far.node)
		return "the cable leads from the node to itself";
	if (nodes[near.node].kind == DEVICE_HOST && nodes[far.node].kind == DEVICE_HOST)
		return "the cable links two adapters; one end must be a switch";
	return NULL;
}

static int contradicts(
	struct ib_builder *builder, const struct ib_port *port, struct ib_end far, uint32_t line)
{
	return odd_port(builder, port, "the line is left out",
		"\"%.*s\"[%u] has a different far end in line %u", ib_shown(port->peer),
		port->peer.start, far.port, line);
}

/* Notes each such line separately: a wrong line lists a cable that no other line confirms. */
static void note_single(struct ib_builder *builder, const struct ib_port *port)
{
	struct error note;

	error_at(&note, port->origin, port->line, port->column,
		"the far end does not list this cable; the cable is kept");
	topology_import_note(builder->import, &note);
}

/* Adds the cable of a listed port, once even if both ends have a line. It is a contradiction if the
 * far end has a line that leads elsewhere. */
static int add_cable(struct ib_builder *builder, uint32_t number)
{
	const struct ib_listing *listing = builder->listing;
	const struct ib_port *port = &listing->port_at[number], *other = port;
	struct ib_end near = end_of(listing, number),
		      far = {builder->peer[number], port->peer_port};
	const char *why = impossible(builder, near, far), *odd = NULL;
	uint32_t back;
	uint64_t rate;

	if (far.port == 0)
		far.port = port_towards(builder, far.node, near);
	back = find_listed(builder, far);
	if (back != IB_NONE && builder->peer[back] != IB_NONE) {
		other = &listing->port_at[back];
		if (!leads_to(builder, back, near))
			return contradicts(builder, port, far, other->line);
		if (back < number)
			return 0;
	}
	if (why != NULL)
		return odd_port(builder, port, "it is left out", "%s", why);
	if (other == port && listing->twice) {
		if (listing->node_at[near.node].disputed || listing->node_at[far.node].disputed)
			return odd_port(builder, port, "it is left out",
				"only this end lists the cable, and lines about its nodes "
				"contradict each other");
		note_single(builder, port);
	}
	rate = cable_rate(port, other, &odd);
	builder->cable[builder->cables++] = (struct ib_cable){near, far, rate, port};
	return odd != NULL ? odd_port(builder, port, "the slower rate is used", "%s", odd) : 0;
}

static int compare_far_ends(const void *a, const void *b)
{
	const struct ib_cable *x = a, *y = b;
	int order = ib_compare_ends(x->b, y->b);

	return order != 0 ? order : (x->listed > y->listed) - (x->listed < y->listed);
}

static int compare_lines(const void *a, const void *b)
{
	const struct ib_cable *x = a, *y = b;

	return (x->listed > y->listed) - (x->listed < y->listed);
}

/* Keeps only the first of several cables at a far end that has no line of its own. */
static int keep_one_cable_per_port(struct ib_builder *builder)
{
	struct ib_cable *cable = builder->cable;
	uint32_t kept = 0;
	int result = 0;

	qsort(cable, builder->cables, sizeof(*cable), compare_far_ends);
	for (uint32_t i = 0; i < builder->cables && result == 0; i++)
		if (kept == 0 || ib_compare_ends(cable[kept - 1].b, cable[i].b) != 0)
			cable[kept++] = cable[i];
		else
			result = odd_port(builder, cable[i].listed, "this one is left out",
				"a second cable at \"%.*s\"[%u], which already has the cable in "
				"line %u",
				ib_shown(cable[i].listed->peer), cable[i].listed->peer.start,
				cable[i].b.port, cable[kept - 1].listed->line);
	builder->cables = kept;
	qsort(cable, kept, sizeof(*cable), compare_lines);
	return result;
}

int ib_find_cables(struct ib_builder *builder)
{
	int result = index_nodes(builder);

	describe_nodes(builder);
	for (uint32_t i = 0; i < builder->listing->ports && result == 0; i++)
		result = find_peer(builder, i);
	if (result == 0)
		result = index_ports(builder);
	for (uint32_t i = 0; i < builder->listing->ports && result == 0; i++)
		if (builder->peer[i] != IB_NONE)
			result = add_cable(builder, i);
	return result == 0 ? keep_one_cable_per_port(builder) : result;
}
