/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Leaves out nodes of a listing that take no part in the network: routers, aggregation nodes, nodes
 * that the user excludes, and nodes without a connection to the rest. */

#include <stdlib.h>
#include <string.h>

#include "ib_builder.h"

static bool mentions(struct ib_text text, const char *word)
{
	size_t length = strlen(word);

	for (uint32_t i = 0; i + length <= text.length; i++)
		if (strncasecmp(text.start + i, word, length) == 0)
			return true;
	return false;
}

static bool matches(const regex_t *regex, struct ib_text text)
{
	regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)text.length};

	return regexec(regex, text.start, 1, &part, REG_STARTEND) == 0;
}

/* Returns why a node takes no part in the network, as a plural noun; NULL if it takes part. */
static const char *reason_to_leave_out(const struct ib_builder *builder, const struct ib_node *node)
{
	const struct topology_import *import = builder->import;

	if (import->exclude != NULL && matches(import->exclude, node->name))
		return "nodes that --exclude matches";
	if (node->kind == DEVICE_SWITCH)
		return NULL;
	if (import->only != NULL)
		return matches(import->only, node->name) ? NULL
							 : "nodes that --only does not match";
	if (import->strict)
		return NULL;
	if (node->router)
		return "routers";
	if (node->aggregation || mentions(node->name, "aggregation node"))
		return "aggregation nodes";
	if (node->name.length >= 3 && strncasecmp(node->name.start, "ufm", 3) == 0)
		return "management servers";
	if (mentions(node->name, "gateway") || mentions(node->name, "skyway"))
		return "gateways";
	return NULL;
}

/* Leaves out nodes, with one note for all that have the same reason. */
static void leave_out_nodes(struct ib_builder *builder)
{
	const struct ib_listing *listing = builder->listing;
	struct {
		const char *reason;
		uint32_t count;
		const struct ib_node *first;
	} kind[8] = {{NULL, 0, NULL}};
	struct error note;

	for (uint32_t i = 0; i < listing->nodes; i++) {
		const char *reason = builder->left_out[i]
					     ? NULL
					     : reason_to_leave_out(builder, &listing->node_at[i]);
		unsigned k = 0;

		if (reason == NULL)
			continue;
		builder->left_out[i] = true;
		while (kind[k].reason != NULL && strcmp(kind[k].reason, reason) != 0)
			k++;
		if (kind[k].count++ == 0)
			kind[k].first = &listing->node_at[i];
		kind[k].reason = reason;
	}
	for (unsigned k = 0; kind[k].reason != NULL; k++) {
		const struct ib_node *first = kind[k].first;

		error_at(&note, first->origin, first->line, first->column,
			"\"%.*s\": %s are left out (%u)", ib_shown(first->name), first->name.start,
			kind[k].reason, kind[k].count);
		topology_import_note(builder->import, &note);
	}
}

/* --- the largest connected part --- */

static uint32_t find_part(struct ib_builder *builder, uint32_t node)
{
	while (builder->part[node] != node) {
		builder->part[node] = builder->part[builder->part[node]];
		node = builder->part[node];
	}
	return node;
}

/* Returns the switch of a cable, or the one at its first end if there are two. */
static uint32_t switch_of(const struct ib_builder *builder, const struct ib_cable *cable)
{
	return ib_is_host(builder, cable->a) ? cable->b.node : cable->a.node;
}

static void drop_cables(struct ib_builder *builder)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < builder->cables; i++)
		if (!builder->left_out[builder->cable[i].a.node] &&
			!builder->left_out[builder->cable[i].b.node])
			builder->cable[kept++] = builder->cable[i];
	builder->cables = kept;
}

static void join_switches(struct ib_builder *builder)
{
	for (uint32_t i = 0; i < builder->listing->nodes; i++)
		builder->part[i] = i;
	for (uint32_t i = 0; i < builder->cables; i++) {
		const struct ib_cable *cable = &builder->cable[i];

		if (!ib_is_host(builder, cable->a) && !ib_is_host(builder, cable->b))
			builder->part[find_part(builder, cable->a.node)] =
				find_part(builder, cable->b.node);
	}
}

/* Adds up the weight of each part in weight[part]: adapter ports count first, then switches.
 * Returns the heaviest part, with ties the first in the file; IB_NONE without switches. */
static uint32_t heaviest_part(struct ib_builder *builder, uint64_t *weight)
{
	const struct ib_listing *listing = builder->listing;
	uint32_t best = IB_NONE;

	for (uint32_t i = 0; i < builder->cables; i++)
		if (ib_is_host(builder, builder->cable[i].a) ||
			ib_is_host(builder, builder->cable[i].b))
			weight[find_part(builder, switch_of(builder, &builder->cable[i]))] +=
				UINT64_C(1) << 32;
	for (uint32_t i = 0; i < listing->nodes; i++)
		if (listing->node_at[i].kind == DEVICE_SWITCH && !builder->left_out[i])
			weight[find_part(builder, i)]++;
	for (uint32_t i = 0; i < listing->nodes; i++) {
		uint32_t part = find_part(builder, i);

		if (weight[part] > 0 && (best == IB_NONE || weight[part] > weight[best]))
			best = part;
	}
	return best;
}

/* Returns the adapter of a cable between a switch and an adapter; IB_NONE for other cables. */
static uint32_t adapter_of(const struct ib_builder *builder, const struct ib_cable *cable)
{
	if (ib_is_host(builder, cable->a) == ib_is_host(builder, cable->b))
		return IB_NONE;
	return ib_is_host(builder, cable->a) ? cable->a.node : cable->b.node;
}

/* Keeps additional planes: parts in which two or more adapters of the best part have a port. Sets
 * 'stays' for these adapters and one switch per plane. 'first' has an element per node. */
static void keep_planes(struct ib_builder *builder, uint32_t best, bool *stays, uint32_t *first)
{
	for (uint32_t i = 0; i < builder->listing->nodes; i++)
		first[i] = IB_NONE;
	stays[best] = true;
	for (uint32_t i = 0; i < builder->cables; i++) {
		uint32_t adapter = adapter_of(builder, &builder->cable[i]);

		if (adapter != IB_NONE &&
			find_part(builder, switch_of(builder, &builder->cable[i])) == best)
			stays[adapter] = true;
	}
	for (uint32_t i = 0; i < builder->cables; i++) {
		uint32_t adapter = adapter_of(builder, &builder->cable[i]), part;

		if (adapter == IB_NONE || !stays[adapter])
			continue;
		part = find_part(builder, switch_of(builder, &builder->cable[i]));
		if (first[part] != IB_NONE && first[part] != adapter)
			stays[part] = true;
		first[part] = adapter;
	}
}

static bool is_outside(struct ib_builder *builder, uint32_t node, const bool *stays)
{
	if (builder->listing->node_at[node].kind == DEVICE_SWITCH)
		return !stays[find_part(builder, node)];
	return !stays[node];
}

/* Leaves out everything outside the part with the most hosts: disconnected racks, idle switches,
 * adapters without a port in that part. */
static void leave_out_parts(struct ib_builder *builder, const bool *stays)
{
	const struct ib_listing *listing = builder->listing;
	const struct ib_node *first = NULL;
	uint32_t switches = 0, ports = 0;
	struct error note;

	for (uint32_t i = 0; i < builder->cables; i++) {
		uint32_t adapter = adapter_of(builder, &builder->cable[i]);

		ports +=
			adapter != IB_NONE &&
			(is_outside(builder, adapter, stays) ||
				is_outside(builder, switch_of(builder, &builder->cable[i]), stays));
	}
	for (uint32_t i = 0; i < listing->nodes; i++) {
		bool is_switch = listing->node_at[i].kind == DEVICE_SWITCH;

		if (builder->left_out[i] || !is_outside(builder, i, stays))
			continue;
		builder->left_out[i] = true;
		switches += is_switch;
		first = first == NULL && is_switch ? &listing->node_at[i] : first;
	}
	for (uint32_t i = 0; first == NULL && ports > 0 && i < listing->nodes; i++)
		if (builder->left_out[i] && is_outside(builder, i, stays))
			first = &listing->node_at[i];
	if (first == NULL)
		return;
	error_at(&note, first->origin, first->line, first->column,
		"\"%.*s\" is not connected to the largest part of the network: %u switches and %u "
		"adapter ports are left out",
		ib_shown(first->name), first->name.start, switches, ports);
	topology_import_note(builder->import, &note);
}

static int keep_largest_part(struct ib_builder *builder)
{
	uint32_t nodes = builder->listing->nodes, best;
	uint64_t *weight = calloc(nodes, sizeof(*weight));
	uint32_t *scratch = calloc(nodes, sizeof(*scratch));
	bool *stays = calloc(nodes, sizeof(*stays));
	int result = weight != NULL && scratch != NULL && stays != NULL ? 0 : -ENOMEM;

	if (result == 0) {
		join_switches(builder);
		best = heaviest_part(builder, weight);
		if (best != IB_NONE) {
			keep_planes(builder, best, stays, scratch);
			leave_out_parts(builder, stays);
		}
	}
	free(weight);
	free(scratch);
	free(stays);
	return result;
}

int ib_leave_out(struct ib_builder *builder)
{
	int result = 0;

	leave_out_nodes(builder);
	drop_cables(builder);
	if (!builder->import->strict)
		result = keep_largest_part(builder);
	drop_cables(builder);
	return result;
}
