/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_endpoints.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/workload/run_source.h"
#include "os/private_dir.h"
#include "os/tap.h"
#include "port/eal.h"
#include "switch/congestion_control.h"
#include "topo/topology_hosts.h"

#define TAP_MESSAGES 1024

/* Converts a host's routes for its interface. Mapped routes arrive later. */
static int copy_routes(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	uint32_t hosts = fabric->options.topology->hosts;
	int result = 0;

	if (fabric->control != NULL)
		return 0;
	host->routes = nic_routes_create((uint16_t)hosts);
	if (host->routes == NULL)
		return error_set(error, ENOMEM, "not enough memory for routes");
	for (uint32_t to = 0; to < hosts && result == 0; to++) {
		unsigned length;
		const uint8_t *route;

		if (to == host->number)
			continue;
		if (fabric->routes.set == NULL) {
			result = nic_routes_by_table(host->routes, (uint16_t)to);
			continue;
		}
		for (unsigned i = 0; result == 0 && (route = route_set_get(fabric->routes.set,
							     host->number, to, i, &length)) != NULL;
			i++)
			result = nic_routes_add(host->routes, (uint16_t)to, route, length);
	}
	return result == 0 ? 0
			   : error_set(error, -result, "%s: cannot store the routes",
				     fabric->options.topology->host_at[host->number].name);
}

static const struct run_config_edge *find_edge(const struct real_fabric *fabric, uint32_t host)
{
	const struct run_config *run = fabric->options.run;

	for (uint32_t i = 0; i < run->edges.count; i++)
		if (fabric->work->hosts->edge[i] == host)
			return &run->edges.at[i];
	return NULL;
}

/* Returns the edge's address in host byte order; 0: none. */
static uint32_t address_of(const struct run_config_edge *edge)
{
	char text[RUN_ADDRESS_MAX];
	struct in_addr address = {0};

	snprintf(text, sizeof(text), "%s", edge->address);
	text[strcspn(text, "/")] = '\0';
	return inet_pton(AF_INET, text, &address) == 1 ? ntohl(address.s_addr) : 0;
}

static uint32_t host_of(const struct real_fabric *fabric, const struct run_config_edge *edge)
{
	return (uint32_t)topology_find_host(fabric->options.topology, edge->host);
}

/* Returns the base of the network in which host i has address base + 1 + i, taken from the first
 * edge for which the base ends in .0; EDGE_BASE_DEFAULT if there is none. */
static uint32_t network_of(const struct real_fabric *fabric)
{
	const struct run_config_edge_list *edges = &fabric->options.run->edges;

	for (uint32_t i = 0; i < edges->count; i++) {
		uint32_t base = address_of(&edges->at[i]) - 1 - host_of(fabric, &edges->at[i]);

		if (edges->at[i].address[0] != '\0' && (base & 0xFF) == 0)
			return base;
	}
	return EDGE_BASE_DEFAULT;
}

/* Edges get their addresses from the file, other hosts base + 1 + i, or none if that is taken. */
static void give_addresses(struct real_fabric *fabric)
{
	const struct run_config_edge_list *edges = &fabric->options.run->edges;
	uint32_t hosts = real_hosts_max(fabric), base = network_of(fabric);
	uint32_t *address = fabric->address;

	for (uint32_t i = 0; i < hosts; i++)
		address[i] = base + 1 + i;
	for (uint32_t i = 0; i < edges->count; i++) {
		uint32_t own = address_of(&edges->at[i]);

		if (own - base - 1 < hosts)
			address[own - base - 1] = 0;
	}
	for (uint32_t i = 0; i < edges->count; i++)
		if (edges->at[i].address[0] != '\0')
			address[host_of(fabric, &edges->at[i])] = address_of(&edges->at[i]);
}

void real_hosts_renew(struct real_fabric *fabric)
{
	if (fabric->address != NULL)
		give_addresses(fabric);
}

static int prepare_netns(struct real_host *host, struct error *error)
{
	char dir[RUNTIME_DIR_MAX];
	int result;

	if (host->edge->netns[0] == '\0')
		return 0;
	runtime_dir_path(eal_prefix(), dir);
	result = runtime_dir_add_netns(dir, host->edge->netns, error);
	host->made_netns = result == 0;
	return result == -EEXIST ? 0 : result;
}

static uint32_t tap_mtu(const struct real_fabric *fabric)
{
	const struct run_config_nic *nic = &fabric->options.run->nic;

	return nic->tap_mtu_bytes != 0 ? nic->tap_mtu_bytes : nic->mtu_bytes;
}

static int open_edge(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	struct tap_options tap = {.name = host->edge->tap, .mtu = tap_mtu(fabric)};
	int result;

	if (fabric->address == NULL) {
		fabric->address = calloc(real_hosts_max(fabric) + 1u, sizeof(*fabric->address));
		if (fabric->address == NULL)
			return error_set(error, ENOMEM, "out of memory");
		give_addresses(fabric);
	}
	if ((result = prepare_netns(host, error)) < 0)
		return result;
	tap.netns = host->edge->netns[0] != '\0' ? host->edge->netns : NULL;
	tap.ipv4 = host->edge->address[0] != '\0' ? host->edge->address : NULL;
	frame_host_mac((uint16_t)host->number, tap.mac);
	host->tap = tap_open(&tap, error);
	if (host->tap < 0)
		return host->tap;
	tap_losses_open(&host->losses, &tap, host->made_netns);
	return poll_nic_attach_tap(host->poll, host->tap, fabric->address, error);
}

static int create_host(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	const struct topology *topology = fabric->options.topology;
	const struct topology_port at = {DEVICE_HOST, host->number, 0};
	const struct device_config from = real_device_config(fabric);
	struct poll_nic_config config = {.pool = fabric->data_pool};
	struct port_auth_plan plan;
	int result;

	host->edge = find_edge(fabric, host->number);
	host->end = real_end_at(fabric, at);
	if (host->end == NULL)
		return error_set(
			error, EINVAL, "%s: has no link", topology->host_at[host->number].name);
	result = copy_routes(fabric, host, error);
	if (result < 0)
		return result;
	device_config_nic(&from, host->number, host->routes, host->end->port.slots, &config.nic);
	if (host->edge != NULL) {
		config.nic.payloads = TAP_MESSAGES;
		config.nic.payload_bytes = EDGE_MESSAGE_MAX;
	}
	config.nic.fabric = fabric->options.fabric;
	config.key = real_end_key(fabric, host->end);
	config.port = &host->end->port;
	config.timing = host->end->timed ? &host->end->timing : NULL;
	config.impairment = real_end_impairment(host->end);
	config.clock = &fabric->clock;
	host->poll = poll_nic_create(&config, clock_now(&fabric->clock), error);
	if (host->poll == NULL)
		return -EINVAL;
	plan = real_end_plan(fabric, host->end);
	port_auth_expect(&host->poll->guard, &plan, nic_link(host->poll->nic));
	poll_nic_set_control(host->poll, real_control_of(fabric, DEVICE_HOST, host->number));
	result = real_endpoints_add_host(fabric, host, error);
	if (result < 0)
		return result;
	return host->edge != NULL ? open_edge(fabric, host, error) : 0;
}

int real_hosts_create(struct real_fabric *fabric, struct error *error)
{
	const bool *here = fabric->options.host_here;
	int result = 0;

	fabric->hosts = calloc(fabric->options.topology->hosts, sizeof(*fabric->hosts));
	if (fabric->hosts == NULL)
		return error_set(error, ENOMEM, "not enough memory for %u hosts",
			fabric->options.topology->hosts);
	for (uint32_t i = 0; i < fabric->options.topology->hosts && result == 0; i++) {
		struct real_host *host = &fabric->hosts[fabric->host_count];

		if (here != NULL && !here[i])
			continue;
		fabric->host_count++;
		host->number = i;
		host->tap = -1;
		result = create_host(fabric, host, error);
	}
	return result;
}

/* Returns an identifier of the clock, equal in all processes that share the clock. */
static uint32_t name_clock(const struct clock *clock)
{
	uint64_t word = rng_mix(clock->hz) ^ clock->origin_tsc;
	uint32_t name = (uint32_t)(rng_mix(word) >> 32);

	return name != 0 ? name : 1;
}

int real_fabric_set_clocks(
	struct real_fabric *fabric, const bool *host_has_ours, struct error *error)
{
	uint32_t hosts = fabric->options.topology->hosts, ours = 0;
	int result = 0;

	for (uint32_t i = 0; i < hosts; i++)
		ours += host_has_ours[i];
	for (unsigned i = 0; i < fabric->host_count && ours < hosts && result == 0; i++)
		result = poll_nic_set_clocks(
			fabric->hosts[i].poll, host_has_ours, name_clock(&fabric->clock));
	return result == 0 ? 0 : error_set(error, -result, "not enough memory for clocks");
}

static void destroy_host(struct real_host *host)
{
	char dir[RUNTIME_DIR_MAX];

	poll_nic_destroy(host->poll);
	nic_routes_destroy(host->routes);
	if (host->tap >= 0) {
		tap_losses_close(&host->losses);
		tap_close(host->tap);
	}
	if (host->made_netns) {
		runtime_dir_path(eal_prefix(), dir);
		runtime_dir_drop_netns(dir, host->edge->netns);
	}
}

void real_hosts_destroy(struct real_fabric *fabric)
{
	for (unsigned i = 0; i < fabric->host_count; i++)
		destroy_host(&fabric->hosts[i]);
	free(fabric->hosts);
	free(fabric->address);
}

/* Returns the bytes of route and latency extension in a frame of this host, which count as load.
 * Call in the host's loop. */
static uint32_t route_bytes(const struct real_host *host, uint16_t to)
{
	const struct nic_routes *routes = nic_config(host->poll->nic)->routes;
	uint8_t length = 0;

	if (routes != NULL && nic_routes_reaches(routes, to) && routes->to[to].count > 0)
		nic_routes_get(routes, to, 0, &length);
	return source_control_measures(nic_config(host->poll->nic)->control.kind)
		       ? length + FRAME_LATENCY_BYTES
		       : length;
}

/* Returns a destination to which this host sends. */
static uint16_t other_host(const struct topology *topology, uint32_t host)
{
	uint32_t other = host == 0;

	while (other + 1 < topology->hosts &&
		(other == host || topology_apart(topology, host, other)))
		other++;
	return (uint16_t)other;
}

static int add_source(
	struct real_fabric *fabric, struct real_host *host, uint32_t which, struct error *error)
{
	const struct topology *topology = fabric->options.topology;
	const struct run_source_place place = {
		.host = (uint16_t)host->number,
		.hosts = topology->hosts,
		.rate_bps = host->end->wire.rate_bps,
		.route_bytes = route_bytes(host, other_host(topology, host->number)),
		.from_ps = fabric->traffic_from,
		.until_ps = fabric->traffic_until,
	};
	struct traffic_config config;
	uint16_t *permutation;
	int result = run_source_config(
		fabric->work->run, fabric->work->hosts, which, &place, &config, &permutation);

	config.queuing = fabric->routes.queuing;
	result = result == 0 ? poll_nic_add_traffic(host->poll, &config, error)
			     : error_set(error, ENOMEM, "not enough memory for traffic");
	free(permutation);
	return result;
}

static void start_goal(struct real_fabric *fabric, struct real_host *host)
{
	if (fabric->goal->rank_of[host->number] != RUN_GOAL_NO_RANK)
		poll_nic_set_goal(host->poll, fabric->goal->entry_of[host->number], fabric->replay,
			fabric->traffic_from + fabric->goal->start_ps);
}

int real_host_start_traffic(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	unsigned former = host->poll->sources;
	int result = 0;

	host->poll->sources = 0;
	for (unsigned i = 0; i < former; i++)
		traffic_destroy(host->poll->source[i]);
	for (uint32_t i = 0; i < fabric->work->hosts->entries && result == 0; i++)
		if (run_source_sends(&fabric->work->hosts->entry[i], host->number))
			result = add_source(fabric, host, i, error);
	if (fabric->goal != NULL)
		start_goal(fabric, host);
	measure_sink_reset(host->poll->sink, fabric->measure_from);
	return result;
}

void real_host_measure(const struct real_fabric *fabric, struct real_host *host)
{
	if (host->poll->sink->measure_from < fabric->measure_from)
		measure_sink_restart(host->poll->sink, fabric->measure_from);
}

/* Returns true if the process is ending; a lab continues after its traffic until it is stopped. */
static bool is_ending(const struct real_fabric *fabric)
{
	return !fabric->serving ||
	       (fabric->stop != NULL && atomic_load_explicit(fabric->stop, memory_order_relaxed));
}

void real_host_stop_traffic(const struct real_fabric *fabric, struct real_host *host, weft_time now)
{
	poll_nic_stop_traffic(host->poll, now);
	if (is_ending(fabric))
		host->poll->tap.due = WEFT_TIME_NEVER; /* stops reading from the kernel */
}
