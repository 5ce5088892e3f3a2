/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "route/search/fat_tree.h"

/* The multi-step paths of DRB (Distributed Routing Balancing) in grids and fat trees: the
 * deterministic path of a pair, and others that share no link with it or each other.
 *
 *     route 0 = dor's (in a fat tree dmodk's)
 *     candidates = all (IN1, IN2), each absent or at most 'radius' links from its end; none that
 *                  visits a switch twice
 *     until there are enough:
 *         next route = the shortest candidate that shares no link with earlier routes, in either
 *                      direction; ties are broken by the number of steps, then by the seed, or
 *                      by the ports towards IN1 and IN2 (options->ties)
 *
 * In a fat tree the IN is the common ancestor of both hosts. At each level, route o uses the up
 * port o positions after D-mod-K's, so the routes of a pair lead to different ancestors.
 *
 * No deadlock in grids. Each step has its own VC classes (vc_rule.h), above the classes of the
 * previous step. No dependency therefore leads back to an earlier step, and a cycle would have to
 * lie within the classes of one step. There all paths are dor's, which close no cycle. With radius
 * 1 the first and the last step are single links: a class without dependencies between its links
 * needs no dateline.
 *
 * With ROUTE_STEPS_ITB a host of the IN absorbs the message after each step and injects it again
 * (Weft's interpretation of paper 000's in-transit buffers). Each step is then a separate dor route
 * and only needs dor's classes. A candidate is skipped if an IN has no hosts, or if the route then
 * does not fit into a frame.
 *
 * No deadlock in fat trees, with one class: no route goes up after down (fat_tree.h). */

#define MSP_STREAM ((uint64_t)1 << 34)

/* Used for pairs in a grid or in a fat tree. */
struct pairs {
	struct route_maker maker;
	struct dimension_order order;
	struct fat_tree tree;
};

/* Replaces each 'next step' with an absorbing host. Returns false if an IN has no hosts, or the
 * path does not fit into a frame. */
static bool absorb_between_steps(const struct route_graph *graph, struct multi_step_path *found)
{
	struct route_path *path = &found->path;

	for (unsigned i = 1; i < path->links; i++) {
		if ((found->steps >> i & 1) == 0)
			continue;
		if (route_graph_hosts_at(graph, graph->arc[path->arc[i - 1]].to) == 0)
			return false;
		path->itb |= (uint64_t)1 << (i - 1);
	}
	found->steps = 0;
	return route_path_elements(path) <= ROUTE_ELEMENTS_MAX;
}

/* Keeps the paths whose steps can be joined at hosts, in order. The first has only one step. */
static int keep_absorbed(const struct route_graph *graph, struct multi_step_path *found, int count)
{
	int kept = 0;

	for (int i = 0; i < count; i++)
		if (found[i].steps == 0 || absorb_between_steps(graph, &found[i]))
			found[kept++] = found[i];
	return kept;
}

static int add_in_grid(const struct route_maker *maker, void *search, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct pairs *pairs = (const struct pairs *)maker;
	const struct route_graph *graph = maker->graph;
	const struct route_options *options = maker->options;
	uint32_t from = graph->host_switch[source], to = graph->host_switch[destination];
	bool per_host = options->granularity == ROUTE_PER_HOST_PAIR;
	struct multi_step_path found[ROUTE_ALTERNATIVES_MAX] = {{.steps = 0}};
	struct rng rng;
	int count = 1, result = 0;

	if (from != to) {
		rng_init(&rng, options->seed, per_host ? source : from,
			MSP_STREAM | (per_host ? destination : to));
		count = multi_step_find(search, from, to,
			dimension_order_parity(&pairs->order, source, destination),
			options->ties == ROUTE_TIES_SEED ? &rng : NULL, options->alternatives,
			found);
	}
	if (count < 0)
		return route_graph_no_memory(graph, error);
	if (options->steps == ROUTE_STEPS_ITB)
		count = keep_absorbed(graph, found, count);
	for (int i = 0; i < count && result == 0; i++)
		result = route_path_add_steps(graph, options, set, source, destination,
			&found[i].path, found[i].steps, error);
	return result;
}

static void *create_search(const struct route_maker *maker)
{
	return multi_step_create(&((const struct pairs *)maker)->order, maker->options->radius);
}

static void destroy_search(void *search)
{
	multi_step_destroy(search);
}

/* With random ties, each host has its own row. */
static uint32_t row_in_grid(const struct route_maker *maker, uint32_t host)
{
	const struct route_options *options = maker->options;

	return options->ties == ROUTE_TIES_SEED && options->granularity == ROUTE_PER_HOST_PAIR
		       ? host
		       : dimension_order_row(&((const struct pairs *)maker)->order, host);
}

static unsigned elements_in_grid(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return dimension_order_links(&((const struct pairs *)maker)->order, from, to) + 2;
}

/* Sets the VC rule; none is needed without rings and with hosts between steps. May return -ENOMEM.
 */
static int use_rule(const struct pairs *pairs, struct route_set *set)
{
	const struct route_options *options = pairs->maker.options;
	uint8_t ring = dimension_order_has_rings(&pairs->order) ? 2 : 1;
	bool links = options->radius == 1, classes = options->steps == ROUTE_STEPS_NEXT;
	struct vc_rule *rule;

	if (!classes && ring == 1)
		return 0;
	if (classes)
		rule = dimension_order_rule(
			&pairs->order, links ? 1 + ring + 1 : (uint8_t)(3 * ring), true);
	else
		rule = dimension_order_rule(&pairs->order, ring, false);
	if (rule == NULL)
		return -ENOMEM;
	if (classes)
		rule->steps = links ? VC_STEPS_LINKS : VC_STEPS_EQUAL;
	route_set_use_vc_rule(set, rule);
	return 0;
}

static int make_grid(struct pairs *pairs, struct route_set *set, struct error *error)
{
	struct route_maker *maker = &pairs->maker;
	struct error why;
	unsigned longest;
	int result = dimension_order_make(&pairs->order, maker->graph, maker->options, &why);

	if (result == -EINVAL)
		return error_set(error, EINVAL,
			"%s; msp supports these and fat trees with stages; use 'disjoint' for other networks",
			why.text);
	if (result < 0 || use_rule(pairs, set) < 0)
		return route_graph_no_memory(maker->graph, error);
	maker->complete = maker->options->steps == ROUTE_STEPS_NEXT &&
			  dimension_order_is_whole(&pairs->order, &longest) &&
			  longest <= ROUTE_LINKS_USUAL;
	maker->add = add_in_grid;
	maker->row = row_in_grid;
	maker->elements = elements_in_grid;
	maker->scratch_create = create_search;
	maker->scratch_destroy = destroy_search;
	return 0;
}

/* Returns the port of the set that is 'shift' positions after 'port'. */
static unsigned port_after(port_set set, unsigned port, uint32_t shift)
{
	shift %= port_set_count(set);
	while (shift-- > 0)
		port = port_set_round_robin(set, (port + 1) % PORT_SET_PORTS);
	return port;
}

/* Finds route 'shift'. Its second step starts where it turns down. Returns false if the destination
 * cannot be reached. */
static bool climb(const struct fat_tree *tree, uint32_t at, uint32_t host, uint32_t shift,
	struct multi_step_path *found)
{
	struct route_path *path = &found->path;
	uint32_t to = tree->graph->host_switch[host];
	bool up = false;

	*found = (struct multi_step_path){.steps = 0};
	while (at != to) {
		port_set set = fat_tree_ports(tree, at, to);
		bool turns = up && port_set_is_empty(set & tree->up[at]);
		uint32_t arc;

		if (port_set_is_empty(set) || path->links == ROUTE_LINKS_MAX)
			return false;
		up = !port_set_is_empty(set & tree->up[at]);
		arc = route_graph_arc_of_port(tree->graph, at,
			up ? mod_k_up(tree, at, set, host, shift)
			   : port_after(set, mod_k_down(tree, at, set, host), shift));
		if (turns && shift > 0)
			found->steps = (uint64_t)1 << path->links;
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

/* In a degraded tree, the next ports may lead to a link that is already used. */
static int add_in_tree(const struct route_maker *maker, void *scratch, struct route_set *set,
	uint32_t source, uint32_t destination, struct error *error)
{
	const struct fat_tree *tree = &((const struct pairs *)maker)->tree;
	const struct route_graph *graph = maker->graph;
	uint32_t at = graph->host_switch[source], to = graph->host_switch[destination];
	uint32_t shifts = at == to ? 1 : port_set_count(tree->up[at]);
	struct multi_step_path found[ROUTE_ALTERNATIVES_MAX];
	unsigned count = 0;
	int result = 0;

	for (uint32_t shift = 0; (shift == 0 || shift < shifts) && result == 0 &&
				 count < maker->options->alternatives;
		shift++) {
		bool taken = !climb(tree, at, destination, shift, &found[count]);

		for (unsigned i = 0; i < count && !taken; i++)
			taken = shares_link(graph, &found[i].path, &found[count].path);
		if (taken)
			continue;
		result = route_path_add_steps(graph, maker->options, set, source, destination,
			&found[count].path, found[count].steps, error);
		count++;
	}
	return result;
}

static uint32_t row_in_tree(const struct route_maker *maker, uint32_t host)
{
	return maker->graph->host_switch[host];
}

static unsigned elements_in_tree(const struct route_maker *maker, uint32_t from, uint32_t to)
{
	return fat_tree_elements(&((const struct pairs *)maker)->tree, from, to);
}

static int make_tree(struct pairs *pairs, struct error *error)
{
	struct route_maker *maker = &pairs->maker;
	int result = fat_tree_make(&pairs->tree, maker->graph, error);

	if (result < 0)
		return result;
	/* One less, because a route may contain a 'next step' element. */
	maker->complete =
		maker->options->on_demand && fat_tree_measure(&pairs->tree, ROUTE_LINKS_USUAL - 1);
	maker->add = add_in_tree;
	maker->row = row_in_tree;
	maker->elements = elements_in_tree;
	return 0;
}

static bool has_stages(const struct route_graph *graph)
{
	for (uint32_t at = 0; at < graph->switches; at++)
		if (graph->topology->switch_at[at].stage != TOPOLOGY_NO_STAGE)
			return true;
	return false;
}

static void destroy(struct route_maker *maker)
{
	struct pairs *pairs = (struct pairs *)maker;

	dimension_order_free(&pairs->order);
	fat_tree_free(&pairs->tree);
	free(pairs);
}

static int msp_pairs(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error)
{
	struct pairs *pairs;
	int result;

	*maker = NULL;
	if (has_stages(graph) && options->steps == ROUTE_STEPS_ITB)
		return error_set(error, EINVAL,
			"%s: steps cannot be joined by hosts (itb), because the common ancestors in "
			"a fat tree have none",
			graph->topology->name);
	pairs = calloc(1, sizeof(*pairs));
	if (pairs == NULL)
		return route_graph_no_memory(graph, error);
	pairs->maker = (struct route_maker){.graph = graph, .options = options, .destroy = destroy};
	result = has_stages(graph) ? make_tree(pairs, error) : make_grid(pairs, set, error);
	if (result == 0)
		*maker = &pairs->maker;
	else
		destroy(&pairs->maker);
	return result;
}

static int msp_routes(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct error *error)
{
	return route_maker_fill(msp_pairs, graph, options, set, error);
}

#ifndef PORT_SET_WIDE
extern const struct route_algorithm route_msp_wide;
#endif

const struct route_algorithm route_msp = {
#ifndef PORT_SET_WIDE
	.wide = &route_msp_wide,
#endif
	.name = "msp",
	.summary = "for DRB: multi-step paths of grids and fat trees that share no link, dor's or "
		   "dmodk's first",
	.deadlock_free = true,
	.alternatives = 4,
	.vc_classes = true,
	.steps = true,
	.ties = true,
	.routes = msp_routes,
	.pairs = msp_pairs,
};
