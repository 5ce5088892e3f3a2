/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_reroute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arrays.h"
#include "mapper/table_image.h"
#include "mapping/control_plane.h"
#include "mapping/mapper_network.h"
#include "setup/device_config.h"
#include "setup/mapper_setup.h"
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_send.h"

/* Time of a mapper or an agent for a frame. */
#define FRAME_PS PS_PER_US
/* Time for the first routes. */
#define FIRST_PS (60 * PS_PER_S)

/* Routes of an epoch and its mapper, kept until the end, because packets refer to them. */
struct epoch_routes {
	uint32_t epoch;
	uint64_t by;
	struct route_set *set;
};

struct virtual_mapper {
	struct mapper_network network;
	weft_time from;         /* the network's time when the run began */
	bool runs;              /* it has begun */
	uint64_t frames, hops;  /* until then */
	uint32_t epoch, number; /* the routes that all devices use */
	struct epoch_routes *routes;
	uint32_t count, room;
	struct switch_tables **tables; /* [switches] */
	uint32_t refused;              /* tables that a switch could not use */
};

/* --- cables --- */

static weft_time send_frame(void *ctx, struct topology_port from, unsigned bytes, weft_time at)
{
	struct virtual_fabric *fabric = ctx;
	struct virtual_tx *channel = virtual_channel_at(fabric, from);
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);
	weft_time now = at - fabric->mapper->from, takes;

	takes = (bytes + FRAME_WIRE_OVERHEAD) * channel->ps_per_byte;
	if (fault->until < now)
		fault->until = now;
	if (virtual_is_sending(fabric, channel, now) && fault->until < channel->free_at)
		fault->until = channel->free_at;
	fault->until += takes;
	channel->busy_ps += takes;
	if (fault->cuts > 0 ||
		(fault->corrupt_ppm != 0 && rng_chance_ppm(&fault->rng, fault->corrupt_ppm)))
		return WEFT_TIME_NEVER;
	return fault->until + channel->arrive_ps + fabric->mapper->from;
}

void virtual_mapper_cut(struct virtual_fabric *fabric, uint32_t link)
{
	if (fabric->mapper != NULL)
		mapper_network_cut(&fabric->mapper->network, link);
}

void virtual_mapper_notice(struct virtual_fabric *fabric, uint32_t link, bool up, weft_time now)
{
	struct virtual_mapper *mapper = fabric->mapper;

	if (mapper != NULL)
		mapper_network_notice(&mapper->network, link, up, mapper->from + now);
}

/* --- tables --- */

struct host_routes {
	struct route_set *set;
	uint32_t host;
	bool failed;
};

/* A table_image_route_fn. */
static void add_route(void *ctx, const struct table_image_route *route)
{
	struct host_routes *to = ctx;

	if (route->length != 0 && route_set_add(to->set, to->host, route->destination,
					  route->elements, route->length) < 0)
		to->failed = true;
}

/* The host's image of the epoch in which 'first' has committed; NULL: none. */
static const uint8_t *image_of(const struct mapper_agent *agent, const struct mapper_agent *first)
{
	if (agent->followed != first->followed)
		return NULL;
	if (agent->epoch == first->epoch)
		return agent->image;
	return agent->staged_epoch == first->epoch && agent->stage == MAPPER_STAGE_READY
		       ? agent->staged
		       : NULL;
}

/* The routes of all hosts in the epoch of 'first', because a set that is in use must not grow. All
 * images are there before the first host commits. */
static struct route_set *make_set(
	const struct virtual_fabric *fabric, const struct mapper_agent *first)
{
	struct host_routes routes = {.set = route_set_create(fabric->hosts)};

	for (; routes.set != NULL && routes.host < fabric->hosts; routes.host++) {
		const struct mapper_agent *agent = mapper_network_agent(&fabric->mapper->network,
			(struct topology_port){DEVICE_HOST, routes.host, 0});
		const uint8_t *image = image_of(agent, first);

		if (image != NULL)
			table_image_each_route(image, add_route, &routes);
	}
	if (!routes.failed)
		return routes.set;
	route_set_destroy(routes.set);
	return NULL;
}

static void commit_host(
	struct virtual_fabric *fabric, uint32_t host, const struct mapper_agent *agent)
{
	struct virtual_mapper *mapper = fabric->mapper;
	struct epoch_routes *routes = mapper->routes, *end = routes + mapper->count;

	if (fabric->routes.set == NULL)
		return;
	while (routes < end && (routes->epoch != agent->epoch || routes->by != agent->followed))
		routes++;
	if (routes == end) {
		if (!array_reserve(&mapper->routes, &mapper->room, mapper->count + 1u,
			    sizeof(*mapper->routes))) {
			fabric->failed = true;
			return;
		}
		routes = &mapper->routes[mapper->count++];
		*routes = (struct epoch_routes){
			agent->epoch, agent->followed, make_set(fabric, agent)};
	}
	if (routes->set != NULL)
		datagram_set_routes(&fabric->host[host].nic, routes->set);
	fabric->failed = fabric->failed || routes->set == NULL;
}

static void commit_switch(
	struct virtual_fabric *fabric, uint32_t at, const struct mapper_agent *agent)
{
	struct virtual_mapper *mapper = fabric->mapper;
	struct switch_tables *tables =
		control_switch_tables(agent->image, agent->config.ports, fabric->hosts);

	if (tables == NULL) {
		fabric->failed = true;
	} else if (device_use_tables(fabric->sw[at], tables) < 0) {
		mapper->refused++;
		switch_tables_destroy(tables);
	} else {
		switch_tables_destroy(mapper->tables[at]);
		mapper->tables[at] = tables;
	}
}

/* --- commands --- */

/* Nothing is stored there; frames on cables arrive before the mapper asks again. */
static bool is_idle(void *ctx, struct topology_port device)
{
	const struct virtual_fabric *fabric = ctx;
	const struct itb *itb;

	if (device.kind == DEVICE_SWITCH)
		return switch_is_empty(fabric->sw[device.device]);
	itb = fabric->host[device.device].nic.itb;
	return itb == NULL || itb->frames == 0;
}

static void obey(void *ctx, struct topology_port device, const struct mapper_agent *agent,
	unsigned orders, weft_time now)
{
	struct virtual_fabric *fabric = ctx;
	struct virtual_mapper *mapper = fabric->mapper;
	const uint32_t at = device.device;

	if (device.kind == DEVICE_SWITCH) {
		if ((orders & MAPPER_AGENT_PURGE) != 0)
			virtual_purge(fabric, at);
		if ((orders & MAPPER_AGENT_COMMIT) != 0)
			commit_switch(fabric, at, agent);
		return;
	}
	if ((orders & MAPPER_AGENT_COMMIT) != 0)
		commit_host(fabric, at, agent);
	fabric->host[at].paused = agent->paused;
	if ((orders & MAPPER_AGENT_RESUME) != 0 && mapper->runs)
		virtual_host_try(fabric, at, now - mapper->from);
}

/* --- the run --- */

weft_time virtual_mapper_due(const struct virtual_fabric *fabric)
{
	const struct virtual_mapper *mapper = fabric->mapper;

	return mapper == NULL ? WEFT_TIME_NEVER
			      : mapper_network_due(&mapper->network) - mapper->from;
}

/* True: all devices use other routes than at the last call. */
static bool note_routes(struct virtual_mapper *mapper)
{
	const struct mapper *leader = mapper_network_leader(&mapper->network, true);

	if (leader == NULL ||
		(leader->epoch == mapper->epoch && leader->generation_number == mapper->number))
		return false;
	mapper->epoch = leader->epoch;
	mapper->number = leader->generation_number;
	return true;
}

bool virtual_mapper_poll(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_mapper *mapper = fabric->mapper;

	if (mapper == NULL || now < virtual_mapper_due(fabric))
		return false;
	mapper_network_poll(&mapper->network, mapper->from + now);
	fabric->failed = fabric->failed || mapper->network.failed;
	return note_routes(mapper);
}

bool virtual_mapper_uses(const struct virtual_fabric *fabric, uint32_t link)
{
	const struct mapper *leader = NULL;

	if (fabric->mapper != NULL)
		leader = mapper_network_leader(&fabric->mapper->network, true);
	return leader != NULL && topology_link_at(mapper_current(leader)->topology,
					 fabric->topology->link_at[link].a) != NULL;
}

/* --- before and after the run --- */

static uint16_t priority(void *ctx, uint32_t host)
{
	const struct virtual_fabric *fabric = ctx;

	return mapper_setup_priority(fabric->run, fabric->topology, host);
}

/* Maps the fabric before the run. */
static int find_first(struct virtual_fabric *fabric, struct error *error)
{
	struct virtual_mapper *mapper = fabric->mapper;
	struct mapper_network *network = &mapper->network;
	const struct mapper *leader;
	weft_time due;

	while (!note_routes(mapper) && (due = mapper_network_due(network)) < FIRST_PS) {
		mapper_network_poll(network, due);
		if (network->failed || fabric->failed)
			return error_set(error, ENOMEM, "no memory for a mapper");
	}
	leader = mapper_network_leader(network, false);
	if (mapper->epoch == 0)
		return error_set(error, EINVAL, "%s: mapper.after: mapper: no first routes: %s",
			fabric->run->origin,
			leader != NULL ? leader->error.text
				       : "no mapper leads more than half of the devices");
	for (uint32_t i = 0; i < 2 * fabric->topology->links; i++) {
		const struct topology_link *link = &fabric->topology->link_at[i / 2];
		struct virtual_tx *channel =
			virtual_channel_at(fabric, i % 2 == 0 ? link->a : link->b);

		virtual_fault_of(fabric, channel)->until = channel->busy_ps = 0;
	}
	mapper->from = network->now;
	mapper->frames = network->frames;
	mapper->hops = network->hops;
	mapper->runs = true;
	return 0;
}

int virtual_mapper_open(struct virtual_fabric *fabric, struct error *error)
{
	struct mapper_network_config config = {.topology = fabric->topology,
		.agent_ps = FRAME_PS,
		.mapper_ps = FRAME_PS,
		.lease_ps = fabric->run->mapper.lease_ps,
		.report_retry_ps = fabric->run->mapper.retry_ps,
		.ctx = fabric,
		.priority = priority,
		.send = send_frame,
		.is_idle = is_idle,
		.obey = obey};
	struct virtual_mapper *mapper;
	int result;

	if (fabric->run->mapper.after_ps != RUN_AFTER_MAPPER || fabric->happenings == NULL)
		return 0;
	result = mapper_setup(fabric->run, fabric->topology, &config.mapper, error);
	if (result < 0)
		return result;
	mapper = fabric->mapper = calloc(1, sizeof(*mapper));
	if (mapper != NULL)
		mapper->tables = calloc(fabric->switches + 1u, sizeof(struct switch_tables *));
	if (mapper == NULL || mapper->tables == NULL ||
		mapper_network_init(&mapper->network, &config) < 0)
		return error_set(error, ENOMEM, "no memory for a mapper");
	return find_first(fabric, error);
}

void virtual_mapper_close(struct virtual_fabric *fabric)
{
	struct virtual_mapper *mapper = fabric->mapper;

	if (mapper == NULL)
		return;
	mapper_network_fini(&mapper->network);
	for (uint32_t i = 0; i < mapper->count; i++)
		route_set_destroy(mapper->routes[i].set);
	for (uint32_t i = 0; mapper->tables != NULL && i < fabric->switches; i++)
		switch_tables_destroy(mapper->tables[i]);
	free(mapper->routes);
	free(mapper->tables);
	free(mapper);
}

static void warn(struct run_result *result, const char *what, const char *why)
{
	char text[ERROR_TEXT + 64];

	snprintf(text, sizeof(text), "%s: %s", what, why);
	run_result_add_warning(result, text);
}

void virtual_mapper_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	const struct virtual_mapper *mapper = fabric->mapper;
	const struct mapper *leader;

	if (mapper == NULL)
		return;
	leader = mapper_network_leader(&mapper->network, false);
	run_result_count(result, "mapper_frames", mapper->network.frames - mapper->frames);
	run_result_count(result, "mapper_frame_hops", mapper->network.hops - mapper->hops);
	run_result_count(result, "mapper_first_routes_ns", ps_to_ns(mapper->from));
	run_result_count(result, "mapper_tables_refused", mapper->refused);
	if (leader == NULL) {
		run_result_add_warning(
			result, "at the end no mapper leads more than half of the devices");
		return;
	}
	run_result_count(result, "mapper_changes_live", leader->counters.live);
	run_result_count(result, "mapper_changes_paused", leader->counters.paused);
	run_result_count(result, "mapper_changes_called_off", leader->counters.called_off);
	if (leader->error.text[0] != '\0')
		warn(result, "the mapper has no routes", leader->error.text);
	else if (leader->instead.text[0] != '\0')
		warn(result, "the mapper uses ud", leader->instead.text);
}
