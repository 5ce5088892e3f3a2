/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_mapping.h"

#include <stdlib.h>

#include "mapper/fabric_map.h"
#include "mapping/mapper_network.h"

#define DEADLINE_PS (10 * PS_PER_S)

struct virtual_mapping {
	const struct topology *topology;
	const struct virtual_mapping_options *options;
	struct mapper_network network;
	weft_time *free_at; /* [2 * link + direction]: when the wire is free */
	uint32_t cut;       /* link; UINT32_MAX: none */
};

static uint16_t priority(void *ctx, uint32_t host)
{
	return host == 0;
}

/* Sends onto the cable, after the frames that are already on it. */
static weft_time send_frame(void *ctx, struct topology_port from, unsigned bytes, weft_time now)
{
	struct virtual_mapping *mapping = ctx;
	const struct topology_link *link = topology_link_at(mapping->topology, from);
	uint32_t number = (uint32_t)(link - mapping->topology->link_at);
	weft_time *free_at = &mapping->free_at[2 * number + (link->a.kind == from.kind &&
								    link->a.device == from.device &&
								    link->a.port == from.port)];

	if (number == mapping->cut)
		return WEFT_TIME_NEVER;
	if (*free_at < now)
		*free_at = now;
	*free_at += bytes_ps(bytes + FRAME_WIRE_OVERHEAD, byte_time_of(link->rate_bps));
	return *free_at + link->delay_ps;
}

/* Host 0 has the only mapper. */
static const struct mapper *leader_of(const struct virtual_mapping *mapping)
{
	return mapping->network.leader[0];
}

/* Runs until the mapper leads with 'generation' tables and is idle. */
static int run_until_done(struct virtual_mapping *mapping, uint32_t generation, struct error *error)
{
	struct mapper_network *network = &mapping->network;
	weft_time deadline = network->now + DEADLINE_PS, due;

	for (;;) {
		due = mapper_network_due(network);
		if (due > deadline)
			return error_set(error, EINVAL, "not mapped in ten seconds");
		mapper_network_poll(network, due);
		if (network->failed)
			return error_set(error, ENOMEM, "no memory for the frames on the cables");
		if (mapper_network_changed(network) &&
			leader_of(mapping)->generation_number >= generation)
			return 0;
	}
}

static int start(struct virtual_mapping *mapping, struct error *error)
{
	const struct virtual_mapping_options *options = mapping->options;
	const struct mapper_network_config config = {
		.topology = mapping->topology,
		.mapper = {.algorithm = options->algorithm,
			.fallback = route_algorithm_find("ud"),
			.tables = options->tables,
			.heartbeat_ps = PS_PER_S,
			.takeover_ps = 4 * PS_PER_S,
			.standbys = 1,
			.gather_ps = 100 * PS_PER_US,
			.linger_ps = 10 * PS_PER_MS,
			.sweep_ps = 60 * PS_PER_S,
			.discovery = {.outstanding = options->outstanding,
				.retry_ps = 50 * PS_PER_MS,
				.tries = 4},
			.distribution = {.outstanding = options->outstanding,
				.retry_ps = 50 * PS_PER_MS,
				.tries = 4,
				.part_bytes = options->part_bytes,
				.drain_ps = 10 * PS_PER_MS,
				.settle_ps = 10 * PS_PER_US}},
		.agent_ps = options->agent_ps,
		.mapper_ps = options->mapper_ps,
		.lease_ps = PS_PER_S,
		.report_retry_ps = PS_PER_MS,
		.ctx = mapping,
		.priority = priority,
		.send = send_frame,
	};

	mapping->free_at = calloc(2u * mapping->topology->links + 1u, sizeof(*mapping->free_at));
	if (mapping->free_at == NULL || mapper_network_init(&mapping->network, &config) < 0)
		return error_set(error, ENOMEM, "no memory for a network");
	return 0;
}

static bool touches_host(const struct topology *topology, struct topology_port port)
{
	for (port.port = 0; port.port < topology->switch_at[port.device].ports; port.port++) {
		struct topology_port peer;

		if (topology_peer(topology, port, &peer) && peer.kind == DEVICE_HOST)
			return true;
	}
	return false;
}

/* UINT32_MAX if no cable joins two switches. */
static uint32_t choose_cut(const struct topology *topology)
{
	uint32_t any = UINT32_MAX;

	for (uint32_t i = topology->links; i-- > 0;) {
		const struct topology_link *link = &topology->link_at[i];

		if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
			continue;
		any = i;
		if (!touches_host(topology, link->a) && !touches_host(topology, link->b))
			return i;
	}
	return any;
}

static struct virtual_mapping_phase measure(const struct virtual_mapping *mapping,
	const struct virtual_mapping_phase *before, weft_time since)
{
	const struct mapper_network *network = &mapping->network;
	const struct mapper *mapper = leader_of(mapping);

	return (struct virtual_mapping_phase){
		.time_ps = network->now - since,
		.frames = network->frames - before->frames,
		.hops = network->hops - before->hops,
		.probes = mapper->discovery.sent - before->probes,
		.tables_and_phases = mapper->distribution.sent - before->tables_and_phases,
		.live = !mapper->distribution.pause,
	};
}

static int check_map(const struct virtual_mapping *mapping, unsigned missing, struct error *error)
{
	const struct mapper *mapper = leader_of(mapping);
	unsigned differences =
		miscabling_report(mapper_current(mapper)->topology, mapping->topology, NULL);

	if (differences != missing)
		return error_set(
			error, EINVAL, "the map has %u differences from the topology", differences);
	return 0;
}

static int run_both(
	struct virtual_mapping *mapping, struct virtual_mapping_result *result, struct error *error)
{
	const struct virtual_mapping_phase nothing = {0};
	struct virtual_mapping_phase cold;
	weft_time since;
	int failure = run_until_done(mapping, 1, error);

	if (failure == 0)
		failure = check_map(mapping, 0, error);
	if (failure < 0)
		return failure;
	cold = result->cold = measure(mapping, &nothing, 0);
	result->cut = mapping->options->cut != UINT32_MAX ? mapping->options->cut
							  : choose_cut(mapping->topology);
	if (result->cut >= mapping->topology->links)
		return error_set(error, EINVAL, "there is no such cable to cut");
	since = mapping->network.now;
	mapping->cut = result->cut;
	mapper_network_cut(&mapping->network, result->cut);
	mapper_network_notice(&mapping->network, result->cut, false, since);
	failure = run_until_done(mapping, 2, error);
	if (failure == 0)
		failure = check_map(mapping, 1, error);
	if (failure == 0)
		result->heal = measure(mapping, &cold, since);
	return failure;
}

int virtual_mapping_run(const struct topology *topology,
	const struct virtual_mapping_options *options, struct virtual_mapping_result *result,
	struct error *error)
{
	struct virtual_mapping mapping = {
		.topology = topology, .options = options, .cut = UINT32_MAX};
	int failure = start(&mapping, error);

	if (failure == 0)
		failure = run_both(&mapping, result, error);
	mapper_network_fini(&mapping.network);
	free(mapping.free_at);
	return failure;
}
