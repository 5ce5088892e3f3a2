/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdio.h>
#include <stdlib.h>

#include "mod_k.h"
#include "multi_step.h"
#include "route_jobs.h"

/*
 * The multi-step paths of DRB (Distributed Routing Balancing) in grids and fat trees: the
 * deterministic path of a pair and others that share no link with it or each other.
 *
 *     route 0 = that of dor (in a fat tree that of dmodk)
 *     candidates = all (IN1, IN2), each missing or at most 'radius' links from its end; none that
 *                  visits a switch twice
 *     until there are enough:
 *         next route = the shortest candidate without a link of those before, in either direction;
 *                      of equals the one with fewer steps, then by the seed
 *
 * In a fat tree the IN is the common ancestor of both hosts. Route o takes, at each level, the up
 * port o places after D-mod-K's, so the routes of a pair climb to different ancestors.
 *
 * No deadlock in grids. Each step has VC classes of its own (vc_rule.h), above those of the step
 * before. So no dependency leads back to an earlier step, and a cycle would have to lie within the
 * classes of one step. There all paths are those of dor, which closes none. With radius 1 the first
 * and the last step are single links: a class without dependencies between its links needs no
 * dateline.
 *
 * With ROUTE_STEPS_ITB a host of the IN absorbs the message after each step and injects it again
 * (paper 000's in-transit buffers, a reading of our own). Then the steps are routes of dor by
 * themselves, with its classes alone. A candidate with an IN without hosts, or that does not fit
 * into a frame so, is left out.
 *
 * No deadlock in fat trees, with one class: no route goes up after down (fat_tree.h).
 */

#define MSP_STREAM ((uint64_t)1 << 34)

struct fill {
	const struct route_graph *graph;
	const struct route_options *options;
	struct dimension_order order;
	struct fat_tree tree;
	struct route_set *set;
};

/* Hosts in the place of 'next step'. False: there are none, or it does not fit into a frame. */
static bool absorb_between_steps(const struct route_graph *graph, struct multi_step_path *found)
{
	struct route_path *path = &found->path;

	for (unsigned i = 1; i < path->links; i++) {
		if ((found->steps >> i & 1) == 0)
			continue;
		if (route_graph_hosts_at(graph, graph->arc[path->arc[i - 1]].to) == 0)
			return false;
		path->itb |= (uint32_t)1 << (i - 1);
	}
	found->steps = 0;
	return route_path_elements(path) <= ROUTE_ELEMENTS_MAX;
}

/* Those of 'count' that hosts can join, in their order; the first has one step. */
static int keep_absorbed(const struct route_graph *graph, struct multi_step_path *found, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		if (found[i].steps == 0 || absorb_between_steps(graph, &found[i]))
			found[kept++] = found[i];
	return kept;
}

static int add_pair(const struct fill *fill, struct multi_step *search, uint32_t source,
	uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = fill->graph;
	const struct route_options *options = fill->options;
	uint32_t from = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct multi_step_path found[ROUTE_ALTERNATIVES_MAX] = {{.steps = 0}};
	struct rng rng;
	int count = 1, result = 0;

	if (from != to) {
		rng_init(&rng, options->seed, per_host ? source : from,
			MSP_STREAM | (per_host ? destination : to));
		count = multi_step_find(search, from, to,
			dimension_order_parity(&fill->order, source, destination), &rng,
			options->alternatives, found);
	}
	if (count < 0)
		return route_graph_no_memory(graph, fault);
	if (options->steps == ROUTE_STEPS_ITB)
		count = keep_absorbed(graph, found, count);
	for (int i = 0; i < count && result == 0; i++)
		result = route_path_add_steps(graph, options, fill->set, source, destination,
			&found[i].path, found[i].steps, fault);
	return result;
}

static int fill_grid(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	struct multi_step *search = multi_step_create(&fill->order, fill->options->radius);
	int result = 0;

	if (search == NULL)
		return route_graph_no_memory(graph, fault);
	for (uint32_t to = job; to < graph->hosts; to += jobs)
		for (uint32_t from = 0; from < graph->hosts && result == 0; from++)
			if (from != to && graph->host_switch[from] != ROUTE_GRAPH_NONE &&
				graph->host_switch[to] != ROUTE_GRAPH_NONE)
				result = add_pair(fill, search, from, to, fault);
	multi_step_destroy(search);
	return result;
}

/* 0 or -ENOMEM. Without rings and with hosts between steps there is none. */
static int use_rule(const struct fill *fill)
{
	uint8_t ring = dimension_order_has_rings(&fill->order) ? 2 : 1;
	bool links = fill->options->radius == 1, classes = fill->options->steps == ROUTE_STEPS_NEXT;
	struct vc_rule *rule;

	if (!classes && ring == 1)
		return 0;
	if (classes)
		rule = dimension_order_rule(
			&fill->order, links ? 1 + ring + 1 : (uint8_t)(3 * ring), true);
	else
		rule = dimension_order_rule(&fill->order, ring, false);
	if (rule == NULL)
		return -ENOMEM;
	if (classes)
		rule->steps = links ? VC_STEPS_LINKS : VC_STEPS_EQUAL;
	route_set_use_vc_rule(fill->set, rule);
	return 0;
}

static int grid_routes(struct fill *fill, struct fault *fault)
{
	struct fault why;
	int result = dimension_order_make(&fill->order, fill->graph, fill->options->seed, &why);

	if (result == -EINVAL)
		return fault_set(fault, EINVAL,
			"%s; msp has paths for these and for fat trees with stages, 'disjoint' "
			"for other networks",
			why.text);
	if (result < 0)
		return route_graph_no_memory(fill->graph, fault);
	if (use_rule(fill) < 0)
		result = route_graph_no_memory(fill->graph, fault);
	else
		result = route_jobs_run(fill->options->jobs, fill_grid, fill, fault);
	dimension_order_free(&fill->order);
	return result;
}

/* The port of the set 'shift' places after this one. */
static unsigned port_after(uint64_t set, unsigned port, uint32_t shift)
{
	shift %= (uint32_t)__builtin_popcountll(set);
	while (shift-- > 0) {
		uint64_t above = port < 63 ? set >> (port + 1) << (port + 1) : 0;

		port = (unsigned)__builtin_ctzll(above != 0 ? above : set);
	}
	return port;
}

/* Route number 'shift'; the step begins where it turns down. False: the destination cannot be
 * reached. */
static bool climb(const struct fat_tree *tree, uint32_t at, uint32_t host, uint32_t shift,
	struct multi_step_path *found)
{
	struct route_path *path = &found->path;
	uint32_t to = tree->graph->host_switch[host];
	bool up = false;

	*found = (struct multi_step_path){.steps = 0};
	while (at != to) {
		uint64_t set = fat_tree_ports(tree, at, to);
		bool turns = up && (set & tree->up[at]) == 0;
		uint32_t arc;

		if (set == 0 || path->links == ROUTE_LINKS_MAX)
			return false;
		up = (set & tree->up[at]) != 0;
		arc = route_graph_arc_of_port(tree->graph, at,
			up ? mod_k_up(tree, at, set, host, shift)
			   : port_after(set, mod_k_down(tree, at, set, host), shift));
		if (turns && shift > 0)
			found->steps = (uint32_t)1 << path->links;
		path->arc[path->links++] = arc;
		at = tree->graph->arc[arc].to;
	}
	return true;
}

static bool shares_link(
	const struct route_graph *graph, const struct route_path *a, const struct route_path *b)
{
	for (unsigned i = 0; i < a->links; i++)
		for (unsigned k = 0; k < b->links; k++)
			if (a->arc[i] == b->arc[k] || graph->arc[a->arc[i]].back == b->arc[k])
				return true;
	return false;
}

/* In a damaged tree the next ports may lead to a link that is taken. */
static int climb_all(
	const struct fill *fill, uint32_t source, uint32_t destination, struct fault *fault)
{
	const struct route_graph *graph = fill->graph;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	uint32_t shifts = at == to ? 1 : (uint32_t)__builtin_popcountll(fill->tree.up[at]);
	struct multi_step_path found[ROUTE_ALTERNATIVES_MAX];
	unsigned count = 0;
	int result = 0;

	for (uint32_t shift = 0; (shift == 0 || shift < shifts) && result == 0 &&
				 count < fill->options->alternatives;
		shift++) {
		bool taken = !climb(&fill->tree, at, destination, shift, &found[count]);

		for (unsigned i = 0; i < count && !taken; i++)
			taken = shares_link(graph, &found[i].path, &found[count].path);
		if (taken)
			continue;
		result = route_path_add_steps(graph, fill->options, fill->set, source, destination,
			&found[count].path, found[count].steps, fault);
		count++;
	}
	return result;
}

static int fill_tree(void *context, unsigned job, unsigned jobs, struct fault *fault)
{
	const struct fill *fill = context;
	const struct route_graph *graph = fill->graph;
	int result = 0;

	for (uint32_t to = job; to < graph->hosts; to += jobs)
		for (uint32_t from = 0; from < graph->hosts && result == 0; from++)
			if (from != to && graph->host_switch[from] != ROUTE_GRAPH_NONE &&
				graph->host_switch[to] != ROUTE_GRAPH_NONE)
				result = climb_all(fill, from, to, fault);
	return result;
}

static int tree_routes(struct fill *fill, struct fault *fault)
{
	int result = fat_tree_make(&fill->tree, fill->graph, fault);

	if (result < 0)
		return result;
	result = route_jobs_run(fill->options->jobs, fill_tree, fill, fault);
	fat_tree_free(&fill->tree);
	return result;
}

static bool has_stages(const struct route_graph *graph)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		if (graph->topology->switch_at[at].stage != TOPOLOGY_NO_STAGE)
			return true;
	return false;
}

static int msp_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct fault *fault)
{
	struct fill fill = {.graph = graph, .options = options, .set = set};

	if (has_stages(graph) && options->steps == ROUTE_STEPS_ITB)
		return fault_set(fault, EINVAL,
			"%s: steps cannot be joined by hosts (itb), because the common ancestors in "
			"a fat tree have none",
			graph->topology->name);
	return has_stages(graph) ? tree_routes(&fill, fault) : grid_routes(&fill, fault);
}

const struct route_algorithm route_msp = {
	.name = "msp",
	.summary = "for DRB: multi-step paths of grids and fat trees that share no link, dor's or "
		   "dmodk's first",
	.deadlock_free = true,
	.alternatives = 4,
	.vc_classes = true,
	.steps = true,
	.routes = msp_routes,
};
