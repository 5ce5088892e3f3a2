/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_fabric.h"

#include <errno.h>
#include <rte_lcore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "experiment/workload/run_source.h"
#include "measure/capture_reason.h"
#include "real_endpoints.h"
#include "real_pools.h"
#include "real_private.h"
#include "traffic/traffic_pattern.h"
#include "wire/frame.h"

#define TRANSIT_MBUFS_MAX 65536u
#define HELD_LATER_MAX    16384u

/* Returns the number of local ports. */
static unsigned count_ends(const struct real_fabric_options *options)
{
	const struct topology *topology = options->topology;
	unsigned ends = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		if (options->switch_here == NULL || options->switch_here[i])
			ends += topology->switch_at[i].ports;
	for (uint32_t i = 0; i < topology->hosts; i++)
		ends += options->host_here == NULL || options->host_here[i];
	return ends;
}

static unsigned count_loops(const struct real_fabric_options *options)
{
	unsigned loops = options->lcores == 0 ? 1 : options->lcores;

	loops = loops > REAL_LOOPS_MAX ? REAL_LOOPS_MAX : loops;
	return loops > rte_lcore_count() ? rte_lcore_count() : loops;
}

/* Returns the number of buffers that re-injecting hosts may hold, limited for fabrics with many or
 * large in-transit buffers. */
static unsigned count_transit(const struct real_fabric_options *options)
{
	uint64_t each = options->run->nic.itb.pool_bytes / DEVICE_TRANSIT_BYTES, all = 0;

	for (uint32_t i = 0; i < options->topology->hosts; i++)
		if (options->host_here == NULL || options->host_here[i])
			all += each;
	return all < TRANSIT_MBUFS_MAX ? (unsigned)all : TRANSIT_MBUFS_MAX;
}

/* Returns the number of frames that transmitters delay. */
static unsigned count_held(const struct real_fabric_options *options)
{
	const struct topology *topology = options->topology;
	const struct topology_link usual = {.rate_bps = topology->default_rate_bps,
		.delay_ps = topology->default_delay_ps,
		.given = topology->default_given};
	struct topology_port at = {.kind = DEVICE_SWITCH};
	unsigned held = 0, later = 0;

	for (uint32_t i = 0; options->external != NULL && i < topology->links; i++)
		if (options->external[i] != NULL)
			held += real_held_frames(&topology->link_at[i]);
	if (!options->plugs || !usual.given)
		return held;
	/* Cables that may be connected later. */
	for (at.device = 0; at.device < topology->switches; at.device++)
		for (at.port = 0; at.port < topology->switch_at[at.device].ports; at.port++)
			if ((options->switch_here == NULL || options->switch_here[at.device]) &&
				topology_link_at(topology, at) == NULL)
				later += real_held_frames(&usual);
	return held + RTE_MIN(later, HELD_LATER_MAX);
}

/* Excludes the additional needs of external ports' drivers. */
static void request_pools(
	const struct real_fabric_options *options, bool itbs, struct real_pool_request *request)
{
	*request = (struct real_pool_request){
		.ends = count_ends(options),
		.transit = itbs ? count_transit(options) : 0,
		.held = count_held(options),
		.mtu_bytes = run_config_frame_payload(options->run),
		.lcores = options->lcores,
	};
}

unsigned real_fabric_memory_mib(const struct real_fabric_options *options)
{
	const struct port_ethdev_config config = {
		.frame_bytes = frame_longest(run_config_frame_payload(options->run))};
	struct real_pool_request request;
	struct real_pool_sizes sizes;
	struct port_ethdev_needs needs;

	request_pools(options, options->run->routing.mode == RUN_ROUTING_SOURCE, &request);
	for (uint32_t i = 0; options->external != NULL && i < options->topology->links; i++) {
		if (options->external[i] == NULL || port_is_shared(options->external[i]))
			continue;
		request.ethdevs |= !real_device_is_socket(options->external[i]);
		real_device_needs(options->external[i], &config, &needs);
		real_pool_add(&request, &needs);
	}
	real_pool_sizes(&request, &sizes);
	return real_pool_memory_mib(&request, &sizes);
}

/* Returns true if all received frames come from this process. */
static bool is_whole(const struct real_fabric_options *options)
{
	unsigned count = 0;

	/* Counts links to other processes. */
	for (uint32_t i = 0; options->external != NULL && i < options->topology->links; i++)
		count += options->external[i] != NULL;
	return count == 0;
}

static int create_pools(struct real_fabric *fabric, struct error *error)
{
	struct real_pool_request request;
	struct real_pool_sizes sizes;
	char name[RTE_MEMPOOL_NAMESIZE];

	request_pools(&fabric->options, fabric->routes.itbs, &request);
	real_links_needs(fabric, &request);
	real_pool_sizes(&request, &sizes);
	snprintf(name, sizeof(name), "%.16s_data", fabric->options.name);
	fabric->data_pool =
		port_pool_create(name, sizes.data_mbufs, sizes.data_bytes, sizes.socket, error);
	if (fabric->data_pool == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%.16s_control", fabric->options.name);
	fabric->control_pool = port_pool_create(
		name, sizes.control_mbufs, sizes.control_bytes, sizes.socket, error);
	return fabric->control_pool == NULL ? -ENOMEM : 0;
}

static int create_captures(struct real_fabric *fabric, struct error *error)
{
	const struct capture_options options = {
		.snap_bytes = fabric->options.snap_bytes,
		.limits = fabric->options.limits,
		.epoch_ns = clock_unix_origin_ns(&fabric->clock),
		.reason = capture_reason_text,
		.drops = capture_reason_drops,
	};

	fabric->captures = capture_manager_create(&options, error);
	if (fabric->captures == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < fabric->ends; i++)
		if (fabric->end[i].made &&
			capture_manager_add_port(fabric->captures, &fabric->end[i].port) < 0)
			return error_set(error, ENOMEM, "not enough memory for captures");
	return 0;
}

static int open_goal(struct real_fabric *fabric, struct error *error)
{
	int result =
		run_goal_open(fabric->options.run, fabric->options.topology, &fabric->goal, error);

	if (result < 0 || fabric->goal == NULL)
		return result;
	fabric->replay = run_goal_replay(fabric->goal, false, error);
	return fabric->replay != NULL ? 0 : -ENOMEM;
}

static int make_routes(struct real_fabric *fabric, struct error *error)
{
	const struct run_config *run = fabric->options.run;
	const struct topology *topology = fabric->options.topology;

	if (fabric->options.routes != NULL) {
		fabric->routes = *fabric->options.routes;
		*fabric->options.routes = (struct fabric_routes){0};
		return 0;
	}
	if (run->mapper.routes == RUN_ROUTES_MAPPER)
		return fabric_routes_init_mapped(&fabric->routes, topology, run, error);
	return fabric_routes_compute(&fabric->routes, topology, run, error);
}

/* Each queue of a host has separate traffic sources. */
static int check_sources(struct real_fabric *fabric, struct error *error)
{
	const struct queuing *queuing = fabric->routes.queuing;

	return run_source_check_room(fabric->options.run, fabric->work->hosts,
		queuing != NULL ? queuing->queues : 1, POLL_NIC_SOURCES_MAX, error);
}

static int build(struct real_fabric *fabric, struct error *error)
{
	int result;

	if ((result = open_goal(fabric, error)) < 0 ||
		(result = real_traffic_open(fabric, &fabric->given, fabric->options.run, error)) <
			0 ||
		(result = make_routes(fabric, error)) < 0 ||
		(result = check_sources(fabric, error)) < 0 ||
		(result = real_links_attach(fabric, error)) < 0 ||
		(result = create_pools(fabric, error)) < 0 ||
		(result = real_links_open(fabric, error)) < 0 ||
		(result = real_control_create(fabric, error)) < 0 ||
		(result = real_switches_create(fabric, error)) < 0 ||
		(result = real_endpoints_create(fabric, error)) < 0 ||
		(result = real_hosts_create(fabric, error)) < 0 ||
		(result = real_links_pace(fabric, error)) < 0 ||
		(result = real_entries_create(fabric) == 0
				  ? 0
				  : error_set(error, ENOMEM,
					    "not enough memory for measurements")) < 0 ||
		(result = create_captures(fabric, error)) < 0)
		return result;
	return real_telemetry(fabric, error);
}

struct real_fabric *real_fabric_create(
	const struct real_fabric_options *options, struct error *error)
{
	struct real_fabric *fabric = calloc(1, sizeof(*fabric));
	int result = -ENOMEM;

	error_set(error, ENOMEM, "not enough memory for a fabric");
	if (fabric == NULL)
		goto err;
	fabric->options = *options;
	if (getentropy(fabric->secret, sizeof(fabric->secret)) < 0) {
		result = error_set(error, errno, "cannot get random numbers: %s", strerror(errno));
		goto err;
	}
	fabric->loops = count_loops(options);
	fabric->whole = is_whole(options);
	fabric->work = &fabric->given;
	if (options->clock != NULL)
		fabric->clock = *options->clock;
	else
		clock_start(&fabric->clock, options->run->dilation);
	result = build(fabric, error);
	if (result == 0)
		return fabric;
err:
	real_fabric_destroy(fabric);
	errno = -result;
	return NULL;
}

void real_fabric_end(struct real_fabric *fabric)
{
	if (fabric == NULL)
		return;
	real_report_end(fabric);
	real_telemetry_end(fabric);
	real_switches_destroy(fabric);
	real_endpoints_destroy(fabric);
	real_hosts_destroy(fabric);
	real_traffic_drop(fabric);
	real_control_destroy(fabric);
	real_links_close(fabric);
	if (fabric->captures != NULL)
		capture_manager_destroy(fabric->captures);
	fabric_routes_free(&fabric->routes);
	goal_replay_destroy(fabric->replay);
	run_goal_close(fabric->goal);
	real_traffic_close(&fabric->given);
	free(fabric);
}

void real_fabric_destroy(struct real_fabric *fabric)
{
	struct rte_mempool *data = fabric != NULL ? fabric->data_pool : NULL;
	struct rte_mempool *control = fabric != NULL ? fabric->control_pool : NULL;

	real_fabric_end(fabric);
	rte_mempool_free(data);
	rte_mempool_free(control);
}

struct capture_manager *real_fabric_captures(struct real_fabric *fabric)
{
	return fabric->captures;
}
