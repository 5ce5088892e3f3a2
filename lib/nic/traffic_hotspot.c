/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message to one of a list of hosts, all equally likely; a host of the list does not send to
 * itself. Who takes part is the configuration's business (traffic_choose_hosts). */

#include <stdlib.h>

#include "traffic_pattern.h"

struct hotspot {
	uint16_t count;
	uint16_t target[];
};

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	struct hotspot *hotspot;

	if (config->targets_count == 0)
		return fault_set(fault, EINVAL, "hotspot traffic needs at least one target");
	hotspot = malloc(sizeof(*hotspot) + config->targets_count * sizeof(hotspot->target[0]));
	if (hotspot == NULL)
		return fault_set(fault, ENOMEM, "no memory for the targets of hotspot traffic");
	hotspot->count = 0;
	for (unsigned i = 0; i < config->targets_count; i++) {
		if (config->targets[i] >= config->hosts) {
			free(hotspot);
			return fault_set(fault, EINVAL,
				"hotspot target %u does not exist, there are %u hosts",
				config->targets[i], config->hosts);
		}
		if (config->targets[i] != config->host)
			hotspot->target[hotspot->count++] = config->targets[i];
	}
	*state = hotspot;
	return 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	const struct hotspot *hotspot = state;

	if (hotspot->count == 0)
		return TRAFFIC_NOWHERE;
	return hotspot->target[rng_below(rng, hotspot->count)];
}

const struct traffic_pattern traffic_hotspot = {
	.name = "hotspot", .init = init, .fini = free, .destination = destination};
