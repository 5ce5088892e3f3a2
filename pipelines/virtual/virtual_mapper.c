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
#include "virtual_dispatch.h"
#include "virtual_faults.h"
#include "virtual_links.h"
#include "virtual_send.h"

/* Time that a mapper or agent takes per frame. */
#define FRAME_PS PS_PER_US
/* Time limit for the first routes. */
#define FIRST_PS (60 * PS_PER_S)

/* Unused route sets are freed at this number of sets, or twice the number kept the last time. */
#define SETS 8

/* Routes of an epoch of a mapper. Packets refer to them. */
struct epoch_routes {
	uint32_t epoch;
	uint64_t by;
	struct route_set *set;
};

struct virtual_mapper {
	struct mapper_network network;
	weft_time from;        /* network time at the start of the run */
	bool runs;             /* the run has started */
	uint64_t frames, hops; /* counts at that time */
	struct epoch_routes *routes;
	uint32_t count, room, kept;
	struct switch_tables **tables; /* [switches] */
	uint32_t refused;              /* number of tables that switches could not use */
};

/* --- cables --- */

static weft_time send_frame(void *ctx, struct topology_port from, unsigned bytes, weft_time at)
{
	struct virtual_fabric *fabric = ctx;
	struct virtual_tx *channel = virtual_channel_at(fabric, from);
	struct virtual_fault *fault = virtual_fault_of(fabric, channel);
	weft_time now = at - fabric->mapper->from, takes;

	takes = wire_takes(bytes + FRAME_WIRE_OVERHEAD, channel->byte_time, &channel->rest);
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

/* Returns the host's image of the epoch to which 'first' has committed; NULL: none. */
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

/* Collects the routes of all hosts in the epoch of 'first', because a set in use must not grow. All
 * images have arrived before the first host commits. */
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

static bool host_uses(const struct datagram *nic, const struct route_set *set)
{
	for (unsigned vc = 0; vc < nic->config.vcs; vc++) {
		const struct datagram_fifo *fifo = &nic->fifo[vc];

		if (fifo->count > 0 && route_set_owns(set, fifo->message[fifo->head].destination,
					       fifo->chosen.route))
			return true;
	}
	return nic->config.routes == set;
}

static bool is_used(const struct virtual_fabric *fabric, const struct route_set *set)
{
	const struct weft_packet *packet = fabric->pool.packet;

	for (uint32_t i = 0; i < fabric->hosts; i++)
		if (host_uses(&fabric->host[i].nic, set))
			return true;
	for (uint32_t i = 0; i < fabric->pool.used; i++)
		if (packet[i].destination < fabric->hosts &&
			route_set_owns(set, packet[i].destination, packet[i].route))
			return true;
	return false;
}

static void free_unused(struct virtual_fabric *fabric)
{
	struct virtual_mapper *mapper = fabric->mapper;
	uint32_t kept = 0;

	if (mapper->count < SETS || mapper->count < 2 * mapper->kept)
		return;
	for (struct weft_packet *free = fabric->pool.returned; free != NULL; free = free->next)
		free->route = NULL;
	for (uint32_t i = 0; i < mapper->count; i++) {
		if (is_used(fabric, mapper->routes[i].set))
			mapper->routes[kept++] = mapper->routes[i];
		else
			route_set_destroy(mapper->routes[i].set);
	}
	mapper->count = mapper->kept = kept;
}

uint32_t virtual_mapper_sets(const struct virtual_fabric *fabric)
{
	return fabric->mapper->count;
}

static void commit_host(
	struct virtual_fabric *fabric, uint32_t host, const struct mapper_agent *agent)
{
	struct virtual_mapper *mapper = fabric->mapper;
	struct epoch_routes *routes = mapper->routes, *end = routes + mapper->count;
	struct route_set *set;

	if (fabric->routes.set == NULL)
		return;
	while (routes < end && (routes->epoch != agent->epoch || routes->by != agent->followed))
		routes++;
	if (routes == end) {
		free_unused(fabric);
		if (!array_reserve(&mapper->routes, &mapper->room, mapper->count + 1u,
			    sizeof(*mapper->routes)) ||
			(set = make_set(fabric, agent)) == NULL) {
			fabric->failed = true;
			return;
		}
		routes = &mapper->routes[mapper->count++];
		*routes = (struct epoch_routes){agent->epoch, agent->followed, set};
	}
	datagram_set_routes(&fabric->host[host].nic, routes->set);
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

/* Returns true if the device stores nothing. Frames on cables arrive before the next request. */
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

bool virtual_mapper_poll(struct virtual_fabric *fabric, weft_time now)
{
	struct virtual_mapper *mapper = fabric->mapper;

	if (mapper == NULL || now < virtual_mapper_due(fabric))
		return false;
	mapper_network_poll(&mapper->network, mapper->from + now);
	fabric->failed = fabric->failed || mapper->network.failed;
	return mapper_network_changed(&mapper->network);
}

bool virtual_mapper_uses(const struct virtual_fabric *fabric, uint32_t link)
{
	const struct virtual_mapper *mapper = fabric->mapper;

	return mapper != NULL &&
	       (mapper->refused > 0 || !mapper_network_avoids(&mapper->network, link));
}

/* --- before and after the run --- */

static uint16_t priority(void *ctx, uint32_t host)
{
	const struct virtual_fabric *fabric = ctx;

	return mapper_setup_priority(fabric->run, fabric->topology, host);
}

static int refuse_first(struct virtual_fabric *fabric, struct error *error)
{
	struct mapper_network *network = &fabric->mapper->network;
	struct topology_port at;

	mapper_network_look(network);
	for (uint32_t i = 0; i < network->leaders; i++)
		if (network->leader[i]->error.text[0] != '\0')
			return error_set(error, EINVAL,
				"%s: mapper.after: mapper: no first routes: %s",
				fabric->run->origin, network->leader[i]->error.text);
	mapper_network_unled(network, true, &at);
	return error_set(error, EINVAL,
		"%s: mapper.after: mapper: no first routes: no mapper configured %s",
		fabric->run->origin, topology_device(fabric->topology, at.kind, at.device)->name);
}

/* Maps the fabric before the run, up to FIRST_PS of network time. */
static int find_first(struct virtual_fabric *fabric, struct error *error)
{
	struct virtual_mapper *mapper = fabric->mapper;
	struct mapper_network *network = &mapper->network;
	struct topology_port at;
	weft_time due;

	while (!mapper_network_changed(network) || mapper_network_unled(network, true, &at) > 0) {
		due = mapper_network_due(network);
		if (due >= FIRST_PS)
			return refuse_first(fabric, error);
		mapper_network_poll(network, due);
		if (network->failed || fabric->failed)
			return error_set(error, ENOMEM, "not enough memory for a mapper");
	}
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
		return error_set(error, ENOMEM, "not enough memory for a mapper");
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

static void warn(struct run_result *result, const struct mapper *mapper, const char *what,
	const struct error *why)
{
	char text[ERROR_TEXT + 2 * TOPOLOGY_NAME_MAX];

	if (why->text[0] == '\0')
		return;
	snprintf(text, sizeof(text), "the mapper on %s %s: %s", mapper->agent->config.name, what,
		why->text);
	run_result_add_warning(result, text);
}

static void add_warnings(const struct virtual_fabric *fabric, struct run_result *result)
{
	struct mapper_network *network = &fabric->mapper->network;
	struct topology_port at;
	uint32_t unled;
	char text[128];

	mapper_network_look(network);
	for (uint32_t i = 0; i < network->leaders; i++) {
		const struct mapper *leader = network->leader[i];

		warn(result, leader, "has no routes", &leader->error);
		warn(result, leader, "uses ud instead", &leader->instead);
	}
	unled = mapper_network_unled(network, false, &at);
	if (unled == 0)
		return;
	snprintf(text, sizeof(text), "devices without a mapper at the end: %u, such as %s", unled,
		topology_device(fabric->topology, at.kind, at.device)->name);
	run_result_add_warning(result, text);
}

void virtual_mapper_result(const struct virtual_fabric *fabric, struct run_result *result)
{
	const struct virtual_mapper *mapper = fabric->mapper;
	struct mapper_counters counters;

	if (mapper == NULL)
		return;
	counters = mapper_network_counters(&mapper->network);
	run_result_count(result, "mapper_frames", mapper->network.frames - mapper->frames);
	run_result_count(result, "mapper_frame_hops", mapper->network.hops - mapper->hops);
	run_result_count(result, "mapper_first_routes_ns", ps_to_ns(mapper->from));
	run_result_count(result, "mapper_tables_refused", mapper->refused);
	run_result_count(result, "mapper_changes_live", counters.live);
	run_result_count(result, "mapper_changes_paused", counters.paused);
	run_result_count(result, "mapper_changes_called_off", counters.called_off);
	if (mapper->refused > 0)
		run_result_add_reason(result, false,
			"switches refused %u of the mapper's tables and kept their previous ones",
			mapper->refused);
	add_warnings(fabric, result);
}
