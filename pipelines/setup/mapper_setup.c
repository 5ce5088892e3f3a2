/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "device_config.h"

#include <errno.h>

#include "fabric_routes.h"
#include "link/link_end.h"
#include "route/route_algorithm.h"

#define PRIORITY_AUTO   1
#define PRIORITY_ALWAYS 2

/* Maximum number of concurrent requests of a mapper. */
#define OUTSTANDING 32
#define STANDBYS    4
/* Minimum interval between two checks that find a device idle. */
#define SETTLE_MIN_PS PS_PER_MS

/* Maximum payload of mapper frames, which carry parts of an image; limited by the MTU. */
#define PAYLOAD_MAX 2048
#define PAYLOAD_MIN 512
#define PART_BYTES  (PAYLOAD_MIN - 256)

uint32_t mapper_setup_payload(const struct run_config *run)
{
	return run->nic.mtu_bytes < PAYLOAD_MAX ? run->nic.mtu_bytes : PAYLOAD_MAX;
}

uint16_t mapper_setup_priority(
	const struct run_config *run, const struct topology *topology, uint32_t host)
{
	switch (run_config_mapper_mode(run, topology->host_at[host].name)) {
	case RUN_MAPPER_NEVER:
		return 0;
	case RUN_MAPPER_ALWAYS:
		return PRIORITY_ALWAYS;
	default:
		return PRIORITY_AUTO;
	}
}

/* Returns at least twice the maximum time of a frame on a cable, where neither end sees the frame:
 * from the start of its transmission until its arrival at the far end. */
static weft_time settle_of(const struct run_config *run, const struct topology *topology)
{
	uint64_t bits = 8ull * (FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + run->nic.mtu_bytes);
	weft_time settle = SETTLE_MIN_PS;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		weft_time on_cable = bits * PS_PER_S / link->rate_bps + link->delay_ps;

		settle = 2 * on_cable > settle ? 2 * on_cable : settle;
	}
	return settle;
}

int mapper_setup(const struct run_config *run, const struct topology *topology,
	struct mapper_config *config, struct error *error)
{
	const struct run_config_mapper *mapper = &run->mapper;
	unsigned tries = mapper_tries(mapper->retry_ps, LINK_HELLOS_MISSED * run->hello_ps);

	if (run->nic.mtu_bytes < PAYLOAD_MIN)
		return error_set(error, EINVAL,
			"%s: nic.mtu is %u, but must be %u or more with a mapper", run->origin,
			run->nic.mtu_bytes, PAYLOAD_MIN);
	*config = (struct mapper_config){
		.algorithm = run->routing.algorithm,
		.others = run->routing.others,
		.may_deadlock = run->routing.may_deadlock,
		.fallback = route_algorithm_find("ud"),
		.tables = run->routing.mode == RUN_ROUTING_TABLE,
		.options = fabric_routes_options(run),
		.queuing = run->queuing == &queuing_1q ? NULL : run->queuing,
		.vcs = run->sw.vcs,
		.listen_ps = mapper->listen_ps,
		.heartbeat_ps = mapper->heartbeat_ps,
		.takeover_ps = mapper->takeover_ps,
		.standbys = STANDBYS,
		.gather_ps = mapper->gather_ps,
		.linger_ps = mapper->linger_ps,
		.sweep_ps = mapper->sweep_ps,
		.discovery = {.outstanding = OUTSTANDING,
			.retry_ps = mapper->retry_ps,
			.tries = tries},
		.distribution = {.outstanding = OUTSTANDING,
			.retry_ps = mapper->retry_ps,
			.tries = tries,
			.part_bytes = mapper_setup_payload(run) - PAYLOAD_MIN + PART_BYTES,
			.drain_ps = mapper->drain_ps,
			.settle_ps = settle_of(run, topology)},
	};
	for (unsigned i = 0; i < config->others; i++)
		config->other[i] = run->routing.other[i];
	return fabric_routes_find_root(run, topology, &config->options, error);
}
