/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fabric_routes.h"

#include <errno.h>
#include <string.h>

#include "experiment/result/run_result.h"
#include "queuing/vc_ladder.h"
#include "route/formats/route_file.h"
#include "route/search/itb_routes.h"
#include "route/search/route_root.h"
#include "route/verify/route_verify.h"
#include "switch/adaptive_routing.h"
#include "topo/topology.h"
#include "wire/frame.h"

static int check_algorithm(
	const struct run_config *run, const struct route_algorithm *algorithm, struct error *error)
{
	if (algorithm->deadlock_free || run->routing.may_deadlock)
		return 0;
	return error_set(error, EINVAL,
		"routing.algorithm: '%s' may deadlock; use a deadlock-free algorithm, or "
		"routing.may-deadlock: true",
		algorithm->name);
}

/* Two deadlock-free route sets may deadlock together, for example if their trees differ. */
static int check_union(const struct route_set *set, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	struct route_report report;
	char name[RUN_ROUTING_NAME];
	bool good;
	int result;

	if (run->routing.others == 0 || run->routing.may_deadlock)
		return 0;
	result = route_verify_set(topology, set, &report, error);
	if (result < 0)
		return result;
	good = report.deadlock_free;
	route_report_free(&report);
	run_routing_name(&run->routing, name);
	return good ? 0
		    : error_set(error, EINVAL,
			      "%s: routing.algorithm %s: the route sets could deadlock "
			      "together",
			      run->origin, name);
}

/* Prefixes the key, because the error of an algorithm that refuses a topology does not name it. */
static int refuse(const struct run_config *run, int result, struct error *error)
{
	char name[RUN_ROUTING_NAME];

	run_routing_name(&run->routing, name);
	if (result == -EINVAL)
		error_prefix(error, "%s: routing.algorithm %s", run->origin, name);
	return result;
}

/* Adaptive switches choose among the alternatives in their tables. */
static int check_alternatives(bool has_them, const struct run_config *run, struct error *error)
{
	char origin[RUN_ROUTING_ORIGIN];

	if (!run_config_is_adaptive(run) || has_them)
		return 0;
	return error_set(error, EINVAL,
		"%s: routing.adaptive: %s has nothing to choose from, because %s's tables have "
		"no alternative ports; use dmodk",
		run->origin, run->routing.adaptive->name,
		run_routing_origin(&run->routing, origin));
}

/* Checks what follows from the algorithm's name. */
static int check_tables(const struct run_config *run, struct error *error)
{
	return check_alternatives(
		run->routing.mode == RUN_ROUTING_TABLE && run->routing.algorithm->adaptive, run,
		error);
}

const struct vc_rule *fabric_routes_vc_rule(const struct fabric_routes *routes)
{
	if (routes->table != NULL)
		return routes->table->vc_rule;
	return routes->set != NULL ? route_set_vc_rule(routes->set) : NULL;
}

/* Returns true if a pair has several routes. On demand, all hosts of a switch have equally many. */
static bool set_has_choice(const struct route_set *set, const struct topology *topology)
{
	uint32_t hosts = route_set_hosts(set), last = UINT32_MAX;
	bool all = !route_set_is_on_demand(set);
	struct topology_port from;

	for (uint32_t source = 0; source < hosts; source++) {
		if (!topology_host_switch(topology, source, &from) || (!all && from.device == last))
			continue;
		last = from.device;
		for (uint32_t to = 0; to < hosts; to++)
			if (route_set_count(set, source, to) > 1)
				return true;
	}
	return false;
}

static bool table_has_choice(const struct route_table *table)
{
	size_t entries = (size_t)table->switches * table->hosts;
	const port_set *sets = (const port_set *)table->alternatives;

	for (size_t i = 0; sets != NULL && i < entries; i++)
		if (port_set_count(sets[i]) > 1)
			return true;
	return false;
}

/* Refuses a mechanism that has nothing to choose from on this topology. */
static int check_choice(const struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	bool adapts = run_config_is_adaptive(run);

	if (adapts ? table_has_choice(routes->table)
		   : !run_config_chooses_routes(run) || set_has_choice(routes->set, topology))
		return 0;
	return error_set(error, EINVAL,
		"%s: %s has nothing to choose from, because routing.algorithm %s has one route "
		"per pair of hosts on %s; set routing.alternatives to 2 or more, or use another "
		"algorithm or topology",
		run->origin, adapts ? run->routing.adaptive->name : run_config_chooser(run),
		run->routing.algorithm->name, topology->name);
}

/* With fewer VCs than classes, packets of different classes would share a VC and could deadlock. */
static int check_classes(
	const struct fabric_routes *routes, const struct run_config *run, struct error *error)
{
	const struct vc_rule *rule = fabric_routes_vc_rule(routes);
	char origin[RUN_ROUTING_ORIGIN];

	if (rule == NULL || rule->classes <= run->sw.vcs)
		return 0;
	return error_set(error, EINVAL,
		"%s: switch.vcs is %u, but must be %u or more, because %s needs that many VC "
		"classes on this topology",
		run->origin, run->sw.vcs, rule->classes, run_routing_origin(&run->routing, origin));
}

static int compute_set(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, const struct route_options *options, struct error *error)
{
	const struct route_algorithm *all[1 + RUN_ALGORITHMS_MORE];
	int result = 0;

	all[0] = run->routing.algorithm;
	for (uint32_t i = 0; i < run->routing.others; i++)
		all[i + 1] = run->routing.other[i];
	routes->set = route_merge_compute(
		topology, all, run->routing.others + 1, options, &result, error);
	if (routes->set == NULL)
		return refuse(run, result, error);
	result = check_classes(routes, run, error);
	if (result == 0)
		result = route_set_check_connected(routes->set, topology, error);
	return result < 0 ? result : check_union(routes->set, topology, run, error);
}

struct route_options fabric_routes_options(const struct run_config *run)
{
	const struct run_config_routing *routing = &run->routing;

	return (struct route_options){
		.seed = run->seed,
		.alternatives = routing->alternatives,
		.radius = routing->radius,
		.steps = routing->steps == RUN_STEPS_ITB ? ROUTE_STEPS_ITB : ROUTE_STEPS_NEXT,
		.ties = routing->ties == RUN_TIES_SEED ? ROUTE_TIES_SEED : ROUTE_TIES_PORT,
		.granularity = routing->granularity == RUN_GRANULARITY_SWITCH
				       ? ROUTE_PER_SWITCH_PAIR
				       : ROUTE_PER_HOST_PAIR,
	};
}

/* Finds the root that all algorithms of a run share. */
int fabric_routes_find_root(const struct run_config *run, const struct topology *topology,
	struct route_options *options, struct error *error)
{
	const struct run_config_routing *routing = &run->routing;
	const struct route_algorithm *rooted = routing->algorithm;
	struct error why;
	int result;

	for (uint32_t i = 0; i < routing->others && rooted->label == NULL; i++)
		rooted = routing->other[i];
	if (rooted->label == NULL)
		return 0;
	result = route_root_find(topology, rooted, routing->root, run->seed, &options->root, &why);
	return result == 0
		       ? 0
		       : error_set(error, -result, "%s: routing.root: %s", run->origin, why.text);
}

/* Chooses the ITB hosts again, balancing their load. */
static int place_itbs(
	struct fabric_routes *routes, const struct topology *topology, struct error *error)
{
	struct route_set *placed;
	uint64_t added;
	int result = itb_bridge_make(topology, NULL, routes->set, &placed, &added, error);

	if (result < 0)
		return result;
	route_set_destroy(routes->set);
	routes->set = placed;
	return 0;
}

static int compute(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	struct route_options options = fabric_routes_options(run);
	int result = check_algorithm(run, run->routing.algorithm, error);

	for (uint32_t i = 0; i < run->routing.others && result == 0; i++)
		result = check_algorithm(run, run->routing.other[i], error);
	if (result == 0)
		result = check_tables(run, error);
	if (result == 0)
		result = fabric_routes_find_root(run, topology, &options, error);
	if (result < 0)
		return result;
	options.classes = run->sw.vcs;
	/* Interfaces on the real clock copy routes, and wormhole networks check all routes. */
	options.on_demand = run->routing.others == 0 && run->clock == RUN_CLOCK_VIRTUAL &&
			    run->sw.switching != RUN_SWITCHING_WORMHOLE;
	if (run->routing.mode == RUN_ROUTING_SOURCE) {
		result = compute_set(routes, topology, run, &options, error);
		return result == 0 && run->routing.itb_hosts == RUN_ITB_HOSTS_BALANCED
			       ? place_itbs(routes, topology, error)
			       : result;
	}
	routes->table =
		route_compute_table(topology, run->routing.algorithm, &options, &result, error);
	if (routes->table == NULL)
		return refuse(run, result, error);
	result = check_classes(routes, run, error);
	return result < 0 ? result : route_table_check_connected(routes->table, topology, error);
}

static int load(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	struct route_file file;
	int result = run_routes_load(run, topology, &file, error);

	if (result < 0)
		return result;
	routes->set = file.set;
	routes->table = file.table;
	result = check_alternatives(
		file.table != NULL && file.table->alternatives != NULL, run, error);
	return result < 0 ? result : check_classes(routes, run, error);
}

static bool pair_has_itb(const struct route_set *set, uint32_t from, uint32_t to)
{
	const uint8_t *route;
	unsigned length;

	for (unsigned i = 0; (route = route_set_get(set, from, to, i, &length)) != NULL; i++)
		if (memchr(route, ROUTE_TYPE_ITB, length) != NULL)
			return true;
	return false;
}

static bool has_itb(const struct route_set *set)
{
	uint32_t hosts = set == NULL || route_set_is_on_demand(set) ? 0 : route_set_hosts(set);

	for (uint32_t from = 0; from < hosts; from++)
		for (uint32_t to = 0; to < hosts; to++)
			if (from != to && pair_has_itb(set, from, to))
				return true;
	return false;
}

/* If routes have VC classes, a queuing scheme chooses only the VC on the sending host's link, where
 * any class may start. Traffic classes keep their VC on the whole path and exclude VC classes. */
static int make_queuing(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	char origin[RUN_ROUTING_ORIGIN];

	for (unsigned sl = 0; sl < 16 && run_config_has_classes(run); sl++)
		routes->sl_to_vc[sl] = sl < run->sw.sl_to_vc.count ? run->sw.sl_to_vc.vc[sl]
				       : sl < run->sw.vcs          ? (uint8_t)sl
								   : 0;
	if (run_config_has_classes(run) && fabric_routes_vc_rule(routes) != NULL)
		return error_set(error, EINVAL,
			"%s: traffic.class and switch.sl-to-vc: on this topology %s uses the VCs "
			"for its classes",
			run->origin, run_routing_origin(&run->routing, origin));
	if (run->queuing->reference && fabric_routes_vc_rule(routes) != NULL)
		return error_set(error, EINVAL,
			"%s: queuing: %s has a VC per destination; on this topology %s uses the VCs "
			"for its classes",
			run->origin, run->queuing->name, run_routing_origin(&run->routing, origin));
	if (run->queuing == &queuing_1q)
		return 0;
	routes->queuing = queuing_create(topology, run->queuing, run->sw.vcs, error);
	return routes->queuing != NULL ? 0 : -errno;
}

void fabric_routes_map_sl(const struct fabric_routes *routes, uint8_t sl_to_vc[16])
{
	for (unsigned sl = 0; sl < 16; sl++)
		sl_to_vc[sl] = routes->queuing == NULL        ? routes->sl_to_vc[sl]
			       : sl < routes->queuing->queues ? (uint8_t)sl
							      : 0;
}

/* Returns the number of VCs that the service levels of the run's traffic use. */
static unsigned count_sl_vcs(const struct fabric_routes *routes, const struct run_config *run)
{
	uint32_t used = run->traffic.count == 0 || run->edges.count > 0 || run->edges.all
				? UINT32_C(1) << routes->sl_to_vc[0]
				: 0;

	for (uint32_t i = 0; i < run->traffic.count; i++)
		used |= UINT32_C(1) << routes->sl_to_vc[run->traffic.at[i].class];
	return (unsigned)__builtin_popcount(used);
}

void fabric_routes_warn_vcs(const struct fabric_routes *routes, const struct run_config *run,
	fabric_routes_tell_fn *tell, void *ctx)
{
	const struct vc_rule *rule = fabric_routes_vc_rule(routes);
	unsigned used = rule != NULL ? rule->classes : count_sl_vcs(routes, run);
	char text[RUN_REASON_MAX];
	int length;

	/* A mapper's routes are not known here. */
	if (routes->queuing != NULL || used >= run->sw.vcs ||
		run->mapper.routes == RUN_ROUTES_MAPPER)
		return;
	length = snprintf(text, sizeof(text), "switch.vcs: %u of %u VCs carr%s data; ", used,
		run->sw.vcs, used == 1 ? "ies" : "y");
	if (rule != NULL)
		snprintf(text + length, sizeof(text) - (size_t)length,
			"the routes need no more: use switch.vcs: %u", used);
	else if (run_config_has_classes(run))
		snprintf(text + length, sizeof(text) - (size_t)length,
			"traffic[].class and switch.sl-to-vc choose the VC");
	else
		snprintf(text + length, sizeof(text) - (size_t)length,
			"use switch.vcs: 1, or queuing: dbbm to use all of them");
	tell(ctx, text);
}

/* Returns the feature of the run that stores port sets in 64-bit words, or NULL. */
static const char *narrow_part(const struct run_config *run)
{
	if (run->sw.switching == RUN_SWITCHING_WORMHOLE)
		return "wormhole switching";
	if (run->mapper.after_ps != WEFT_TIME_NEVER)
		return "mapper.after";
	return run->routing.itb_hosts == RUN_ITB_HOSTS_BALANCED ? "routing.itb-hosts: balanced"
								: NULL;
}

static int measure_lengths(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	const struct vc_ladder *ladder = run_config_ladder(run);

	if (ladder == NULL || !ladder->halves)
		return 0;
	routes->lengths = route_lengths_create(topology);
	return routes->lengths != NULL
		       ? 0
		       : error_set(error, ENOMEM, "not enough memory for path lengths");
}

int fabric_routes_find(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	const char *narrow = narrow_part(run);
	int result;

	*routes = (struct fabric_routes){NULL, NULL};
	result = topology_check_ports(
		topology, TOPOLOGY_PORTS_RUN, narrow != NULL ? narrow : "audits and --mpi", error);
	if (result < 0 && narrow == NULL && PORT_SET_LIMIT > TOPOLOGY_PORTS_RUN)
		result = topology_check_ports(topology, PORT_SET_LIMIT, "a run", error);
	if (result < 0)
		return result;
	result = run->routing.file != NULL ? load(routes, topology, run, error)
					   : compute(routes, topology, run, error);
	if (result == 0)
		result = check_choice(routes, topology, run, error);
	if (result == 0)
		result = make_queuing(routes, topology, run, error);
	if (result == 0) {
		routes->itbs = run->reconfigure.mode == RUN_RECONFIGURE_ITB ||
			       run->mapper.after_ps == RUN_AFTER_MAPPER || has_itb(routes->set);
		routes->extra_long =
			routes->set != NULL && route_set_longest(routes->set) > FRAME_ROUTE_USUAL;
	} else {
		fabric_routes_free(routes);
	}
	return result;
}

int fabric_routes_compute(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	int result = fabric_routes_find(routes, topology, run, error);

	if (result == 0 && (result = measure_lengths(routes, topology, run, error)) < 0)
		fabric_routes_free(routes);
	return result;
}

int fabric_routes_init_mapped(struct fabric_routes *routes, const struct topology *topology,
	const struct run_config *run, struct error *error)
{
	int result;

	*routes = (struct fabric_routes){NULL, NULL};
	result = topology_check_ports(topology, TOPOLOGY_PORTS_RUN, "a mapper", error);
	if (result == 0)
		result = check_algorithm(run, run->routing.algorithm, error);
	if (result == 0 && run->queuing != &queuing_1q && run->routing.algorithm->vc_classes)
		result = error_set(error, EINVAL,
			"%s: queuing: with mapped routes, VCs are either for %s or for the classes of %s",
			run->origin, run->queuing->name, run->routing.algorithm->name);
	if (result == 0)
		result = check_tables(run, error);
	if (result == 0)
		result = make_queuing(routes, topology, run, error);
	/* The mapper may distribute routes with in-transit buffers. */
	routes->itbs = run->routing.mode == RUN_ROUTING_SOURCE;
	return result;
}

/* Smaller tables fit into the cache, and reading them takes one access instead of two. */
#define SHARED_TABLE_BYTES ((size_t)1 << 20)

int fabric_routes_share(struct fabric_routes *routes)
{
	const struct route_table *table = routes->table;

	if (table == NULL || (size_t)table->switches * table->hosts < SHARED_TABLE_BYTES)
		return 0;
	routes->blocks = route_blocks_create(routes->table);
	return routes->blocks == NULL && errno == ENOMEM ? -ENOMEM : 0;
}

void fabric_routes_free(struct fabric_routes *routes)
{
	route_set_destroy(routes->set);
	route_blocks_destroy(routes->blocks);
	route_table_destroy(routes->table);
	queuing_destroy(routes->queuing);
	route_lengths_destroy(routes->lengths);
	*routes = (struct fabric_routes){NULL};
}
