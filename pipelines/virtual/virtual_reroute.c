/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_reroute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/transition_check.h"
#include "route/search/itb_routes.h"
#include "setup/device_config.h"
#include "switch/switch_congestion.h"
#include "topo/topology.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_measure.h"
#include "virtual_partitions.h"
#include "virtual_ranks.h"

/* Interval between checks of a paused fabric. */
#define LOOK_PS PS_PER_US

#define NAME_BYTES (TOPOLOGY_NAME_MAX + 8)

/* Routes that avoid certain links. Sets are kept until the end: packets and hosts refer to them. */
struct generation {
	bool *down; /* [links] */
	const struct topology *topology;
	struct topology *copy; /* NULL: the fabric's topology */
	struct fabric_routes routes;
};

struct virtual_reroute {
	weft_time due, noted; /* the next attempt; the last change of a cable */
	weft_time computed_at;
	weft_time paused_at; /* WEFT_TIME_NEVER: hosts are not paused */
	/* Since when new packets have routes with additional ITBs, until those with old routes have
	 * arrived; WEFT_TIME_NEVER: no bridge. Packets and hosts may refer to a bridge forever. */
	weft_time bridged_at;
	struct route_set **bridge;
	uint32_t bridges;
	uint64_t itb_routes; /* total number of routes with additional ITBs */
	weft_time bridged_ps;
	struct generation *made;
	uint32_t count, used,
		next; /* length of 'made'; index in use; index to use when the fabric is empty */
	uint32_t failures, pauses, risks; /* 'risks': changes despite a possible deadlock */
	weft_time paused_ps;
	const struct route_set **set; /* sets used so far, in order of use */
	uint32_t sets;
	struct error why; /* cause of the last failure or pause */
};

static int add_generation(struct virtual_fabric *fabric, struct generation **made)
{
	struct virtual_reroute *reroute = fabric->reroute;
	struct generation *more =
		realloc(reroute->made, (reroute->count + 1) * sizeof(*reroute->made));

	if (more == NULL)
		return -ENOMEM;
	reroute->made = more;
	*made = &more[reroute->count];
	**made = (struct generation){.topology = fabric->topology};
	(*made)->down = calloc(fabric->topology->links + 1, sizeof(bool));
	if ((*made)->down == NULL)
		return -ENOMEM;
	reroute->count++;
	return 0;
}

/* Records a set, unless it is the last one recorded. */
static void note_set(struct virtual_fabric *fabric, const struct route_set *set)
{
	struct virtual_reroute *reroute = fabric->reroute;
	const struct route_set **more;

	if (reroute->sets > 0 && reroute->set[reroute->sets - 1] == set)
		return;
	more = realloc(reroute->set, (reroute->sets + 1) * sizeof(*more));
	if (more == NULL) {
		fabric->failed = true;
		return;
	}
	reroute->set = more;
	more[reroute->sets++] = set;
}

int virtual_reroute_open(struct virtual_fabric *fabric)
{
	struct generation *first;

	if (fabric->run->mapper.after_ps >= RUN_AFTER_MAPPER || fabric->happenings == NULL)
		return 0;
	fabric->reroute = calloc(1, sizeof(*fabric->reroute));
	if (fabric->reroute == NULL || add_generation(fabric, &first) < 0)
		return -ENOMEM;
	first->routes = fabric->routes;
	fabric->reroute->due = fabric->reroute->paused_at = WEFT_TIME_NEVER;
	fabric->reroute->bridged_at = WEFT_TIME_NEVER;
	note_set(fabric, fabric->routes.set);
	return fabric->failed ? -ENOMEM : 0;
}

void virtual_reroute_close(struct virtual_fabric *fabric)
{
	struct virtual_reroute *reroute = fabric->reroute;

	if (reroute == NULL)
		return;
	if (reroute->count > 0)
		fabric->routes = reroute->made[0].routes;
	for (uint32_t i = 0; i < reroute->count; i++) {
		if (i > 0)
			fabric_routes_free(&reroute->made[i].routes);
		topology_destroy(reroute->made[i].copy);
		free(reroute->made[i].down);
	}
	for (uint32_t i = 0; i < reroute->bridges; i++)
		route_set_destroy(reroute->bridge[i]);
	free(reroute->bridge);
	free(reroute->set);
	free(reroute->made);
	free(reroute);
}

const struct route_set *virtual_reroute_set(const struct virtual_fabric *fabric, uint32_t number)
{
	return fabric->reroute != NULL ? fabric->reroute->set[number] : fabric->routes.set;
}

struct virtual_route_number virtual_reroute_number(
	const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	uint32_t set = fabric->reroute != NULL ? fabric->reroute->sets : 1;
	const uint8_t *route;
	unsigned length;

	/* The last sets are the most likely. */
	while (packet->route_length != 0 && set-- > 0)
		for (unsigned which = 0;
			(route = route_set_get(virtual_reroute_set(fabric, set), packet->source,
				 packet->destination, which, &length)) != NULL;
			which++)
			if (route == packet->route)
				return (struct virtual_route_number){set, which};
	return (struct virtual_route_number){0, 0};
}

void virtual_reroute_note(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;

	if (reroute == NULL)
		return;
	reroute->noted = now;
	if (reroute->due == WEFT_TIME_NEVER)
		reroute->due = now + fabric->run->mapper.after_ps;
}

weft_time virtual_reroute_due(const struct virtual_fabric *fabric)
{
	return fabric->reroute != NULL ? fabric->reroute->due : WEFT_TIME_NEVER;
}

/* --- computing routes --- */

static bool is_down(const struct virtual_fabric *fabric, uint32_t link)
{
	return virtual_fault_of(
		       fabric, virtual_channel_at(fabric, fabric->topology->link_at[link].a))
		       ->cuts > 0;
}

static bool is_for_now(const struct virtual_fabric *fabric, const struct generation *made)
{
	for (uint32_t i = 0; i < fabric->topology->links; i++)
		if (made->down[i] != is_down(fabric, i))
			return false;
	return true;
}

/* Returns a copy of the topology without failed links, or NULL with error set. */
static struct topology *without_down(
	const struct virtual_fabric *fabric, const bool *down, struct error *error)
{
	const struct topology *topology = fabric->topology;
	char(*name)[NAME_BYTES] = calloc(topology->links + 1, sizeof(*name));
	const char **failed = calloc(topology->links + 1, sizeof(*failed));
	struct topology *copy = NULL;
	size_t count = 0;

	for (uint32_t i = 0; name != NULL && failed != NULL && i < topology->links; i++) {
		if (!down[i])
			continue;
		topology_port_name(topology, topology->link_at[i].a, name[count], NAME_BYTES);
		failed[count] = name[count];
		count++;
	}
	if (name != NULL && failed != NULL)
		copy = topology_without(topology, failed, count, error);
	else
		error_set(error, ENOMEM, "not enough memory for new routes");
	free(failed);
	free(name);
	if (copy != NULL && topology_check_connected(copy, topology->name, error) < 0) {
		topology_destroy(copy);
		copy = NULL;
	}
	return copy;
}

/* Returns 0, or a negative value with error set if there are no such routes. */
static int make_routes(struct virtual_fabric *fabric, struct generation *made, struct error *error)
{
	int result;

	made->copy = without_down(fabric, made->down, error);
	if (made->copy == NULL)
		return -EINVAL;
	made->topology = made->copy;
	result = fabric_routes_compute(&made->routes, made->copy, fabric->run, error);
	if (result == 0 && made->routes.itbs && !fabric->routes.itbs)
		result = error_set(error, EINVAL,
			"the new routes need in-transit buffers, which hosts do not have");
	return result < 0 ? result : fabric_routes_share(&made->routes);
}

/* Finds or computes the routes for the current failures and sets their number. Returns false with
 * error set if there are none. */
static bool find_routes(struct virtual_fabric *fabric, uint32_t *number, struct error *error)
{
	struct virtual_reroute *reroute = fabric->reroute;
	struct generation *made;

	for (*number = 0; *number < reroute->count; (*number)++)
		if (is_for_now(fabric, &reroute->made[*number]))
			return true;
	if (add_generation(fabric, &made) < 0) {
		fabric->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < fabric->topology->links; i++)
		made->down[i] = is_down(fabric, i);
	if (make_routes(fabric, made, error) == 0)
		return true;
	fabric_routes_free(&made->routes);
	topology_destroy(made->copy);
	free(made->down);
	reroute->count--;
	return false;
}

/* Returns true if the routes in use and the new ones cannot deadlock together. */
static bool may_coexist(struct virtual_fabric *fabric, uint32_t number, struct error *reason)
{
	const struct virtual_reroute *reroute = fabric->reroute;
	const struct generation *old = &reroute->made[reroute->used], *new = &reroute->made[number];
	const struct live_generation both[] = {{old->topology, old->routes.set, old->routes.table},
		{new->topology, new->routes.set, new->routes.table}};
	bool live = false;

	if (transition_check(both, 2, &live, reason) < 0)
		fabric->failed = true;
	return live;
}

/* --- activation --- */

static void set_switches(struct virtual_fabric *fabric)
{
	const struct device_config from = {.run = fabric->run,
		.topology = fabric->topology,
		.routes = &fabric->routes,
		.session = 1,
		.links_are_up = true};

	for (uint32_t at = 0; at < fabric->switches; at++) {
		struct weft_switch *sw = fabric->sw[at];
		struct switch_config config;

		device_config_switch(&from, at, &config);
		switch_set_table(sw, config.table_port, config.table_block, config.table_hosts);
		sw->table_alternatives = config.table_alternatives;
		sw->vc_rule = config.vc_rule;
		sw->detour.config.lengths = config.detour.lengths;
		switch_congestion_note_plain(sw);
	}
}

/* Activates routes. 'bridge', unless NULL, replaces their route set. */
static void use(struct virtual_fabric *fabric, uint32_t number, struct route_set *bridge)
{
	struct virtual_reroute *reroute = fabric->reroute;
	struct fabric_routes routes = reroute->made[number].routes;

	if (bridge != NULL)
		routes.set = bridge;
	/* Sources and hosts keep their initial queuing scheme and in-transit buffers. */
	routes.queuing = fabric->routes.queuing;
	routes.itbs = fabric->routes.itbs;
	note_set(fabric, routes.set);
	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		virtual_partition_at(fabric, i)->routes = routes;
	set_switches(fabric);
	for (uint32_t i = 0; i < fabric->hosts && routes.set != NULL; i++)
		datagram_set_routes(&fabric->host[i].nic, routes.set);
	reroute->used = number;
}

static void set_pause(struct virtual_fabric *fabric, bool pause, weft_time now)
{
	for (uint32_t i = 0; i < fabric->hosts; i++)
		fabric->host[i].paused = pause;
	for (uint32_t i = 0; i < fabric->hosts && !pause; i++)
		if (virtual_is_ours(fabric, fabric->switches + i))
			virtual_host_try(
				virtual_partition_of(fabric, fabric->switches + i), i, now);
}

/* Returns true if no packets are stored in switches, on links or in hosts' pools. */
static bool is_empty(struct virtual_fabric *fabric)
{
	uint64_t out = virtual_packets_out(fabric) - virtual_recovery_held(fabric) -
		       virtual_order_held(fabric);

	virtual_ranks_sum(fabric, &out, 1);
	return out == 0;
}

static void purge(struct virtual_fabric *fabric)
{
	for (uint32_t at = 0; at < fabric->switches; at++)
		if (virtual_is_ours(fabric, at))
			virtual_purge(virtual_partition_of(fabric, at), at);
}

/* Returns true if hosts send again, using the new routes. */
static bool end_pause(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;
	bool late = now - reroute->paused_at >= fabric->run->mapper.drain_ps;

	if (!late && !is_empty(fabric)) {
		reroute->due = now + LOOK_PS;
		return false;
	}
	if (late)
		purge(fabric);
	reroute->paused_ps += now - reroute->paused_at;
	reroute->paused_at = WEFT_TIME_NEVER;
	use(fabric, reroute->next, NULL);
	set_pause(fabric, false, now);
	return true;
}

/* --- bridges --- */

static void pause_hosts(struct virtual_fabric *fabric, uint32_t number, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;

	reroute->pauses++;
	reroute->next = number;
	reroute->paused_at = now;
	reroute->due = now + LOOK_PS;
	set_pause(fabric, true, now);
}

/* Returns true if new routes, with additional ITBs, are in use. */
static bool begin_bridge(
	struct virtual_fabric *fabric, uint32_t number, weft_time now, struct error *error)
{
	struct virtual_reroute *reroute = fabric->reroute;
	struct route_set **more =
		realloc(reroute->bridge, (reroute->bridges + 1) * sizeof(*reroute->bridge));
	uint64_t added;
	int result = -ENOMEM;

	if (more != NULL) {
		reroute->bridge = more;
		result = itb_bridge_make(fabric->topology, reroute->made[reroute->used].routes.set,
			reroute->made[number].routes.set, &more[reroute->bridges], &added, error);
	}
	fabric->failed = fabric->failed || result == -ENOMEM;
	if (result < 0)
		return false;
	reroute->itb_routes += added;
	use(fabric, number, more[reroute->bridges++]);
	reroute->bridged_at = now;
	reroute->due = now + LOOK_PS;
	return true;
}

/* Returns the number of a partition's packets that left their source before 'since'. */
static uint64_t count_old(const struct virtual_fabric *partition, weft_time since)
{
	const struct virtual_pool *pool = &partition->pool;
	uint64_t old = 0;

	for (uint32_t i = 0; i < pool->used; i++)
		old += pool->origin[i].injected_ps < since;
	for (const struct weft_packet *free = pool->returned; free != NULL; free = free->next)
		old -= pool->origin[free - pool->packet].injected_ps < since;
	return old;
}

/* Stops using the bridge once no packet has an old route. */
static void end_bridge(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;
	uint64_t old = 0;

	for (unsigned i = 0; i < virtual_partitions_count(fabric); i++)
		old += count_old(virtual_partition_at(fabric, i), reroute->bridged_at);
	virtual_ranks_sum(fabric, &old, 1);
	if (old > 0) {
		reroute->due = now + LOOK_PS;
		return;
	}
	reroute->bridged_ps += now - reroute->bridged_at;
	reroute->bridged_at = WEFT_TIME_NEVER;
	use(fabric, reroute->used, NULL);
}

/* Returns true if new routes are in use. */
static bool begin(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;
	enum run_reconfigure mode = fabric->run->reconfigure.mode;
	struct error error = {""};
	uint32_t number;
	bool live;

	reroute->computed_at = now;
	if (!find_routes(fabric, &number, &error)) {
		reroute->failures++;
		reroute->why = error;
		return false;
	}
	if (number == reroute->used)
		return false;
	live = may_coexist(fabric, number, &error);
	if (!live)
		reroute->why = error;
	if (mode == RUN_RECONFIGURE_IMMEDIATE || (live && mode != RUN_RECONFIGURE_DRAIN)) {
		reroute->risks += !live;
		use(fabric, number, NULL);
		return true;
	}
	if (mode == RUN_RECONFIGURE_ITB && begin_bridge(fabric, number, now, &reroute->why))
		return true;
	pause_hosts(fabric, number, now);
	return false;
}

bool virtual_reroute_poll(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_reroute *reroute = fabric->reroute;
	bool done = false;

	if (reroute == NULL || now < reroute->due)
		return false;
	reroute->due = WEFT_TIME_NEVER;
	if (reroute->bridged_at != WEFT_TIME_NEVER)
		end_bridge(fabric, now);
	else if (reroute->paused_at != WEFT_TIME_NEVER)
		done = end_pause(fabric, now);
	else
		done = begin(fabric, now);
	/* Handles cables that changed in the meantime. */
	if (reroute->due == WEFT_TIME_NEVER && reroute->noted > reroute->computed_at)
		reroute->due = reroute->noted + fabric->run->mapper.after_ps;
	return done;
}

void virtual_reroute_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	const struct virtual_reroute *reroute = fabric->reroute;
	char text[sizeof(reroute->why.text) + 128];

	if (reroute == NULL)
		return;
	run_result_count(result, "reroutes_paused", reroute->pauses);
	run_result_count(result, "reroutes_paused_ns", ps_to_ns(reroute->paused_ps));
	run_result_count(result, "reroutes_failed", reroute->failures);
	run_result_count(result, "reroutes_bridged", reroute->bridges);
	run_result_count(result, "reroutes_bridged_ns", ps_to_ns(reroute->bridged_ps));
	run_result_count(result, "reroutes_itb_routes", reroute->itb_routes);
	run_result_count(result, "reroutes_at_risk", reroute->risks);
	if (reroute->failures > 0) {
		snprintf(text, sizeof(text), "no new routes after %u change%s: %s",
			reroute->failures, reroute->failures == 1 ? "" : "s", reroute->why.text);
		run_result_add_warning(result, text);
	} else if (reroute->risks > 0) {
		snprintf(text, sizeof(text),
			"%u route change%s despite a possible deadlock between old and new routes: %s",
			reroute->risks, reroute->risks == 1 ? "" : "s", reroute->why.text);
		run_result_add_warning(result, text);
	} else if (reroute->pauses > 0 && reroute->why.text[0] != '\0') {
		snprintf(text, sizeof(text),
			"hosts paused for %u route change%s because old and new routes could "
			"deadlock together: %s",
			reroute->pauses, reroute->pauses == 1 ? "" : "s", reroute->why.text);
		run_result_add_warning(result, text);
	}
}
