/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Messages to one of a list of hosts, all equally likely: all of them, or a share and the rest to
 * any host (the thesis, 4.5). A host of the list does not send to itself; if it is the whole list,
 * its share goes to any host too. Who takes part is the configuration's business
 * (traffic_choose_hosts). */

#include <stdlib.h>

#include "traffic_targets.h"

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	struct traffic_targets *targets;
	int result;

	if (config->targets_count == 0)
		return fault_set(
			fault, EINVAL, "%s traffic needs at least one target", config->pattern);
	if (config->elsewhere_ppm > 0 && config->hosts < 2)
		return fault_set(fault, EINVAL, "hotspot traffic needs 2 hosts or more");
	result = traffic_targets_create(
		&targets, config, config->targets, config->targets_count, "hotspot target", fault);
	if (result == 0)
		*state = targets;
	return result;
}

static bool sends(const void *state, const struct traffic_config *config)
{
	return ((const struct traffic_targets *)state)->count > 0 || config->elsewhere_ppm > 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	const struct traffic_targets *targets = state;

	if (config->elsewhere_ppm > 0 &&
		(targets->count == 0 || rng_chance_ppm(rng, config->elsewhere_ppm)))
		return traffic_draw_other(config, rng);
	return traffic_targets_draw(targets, rng);
}

const struct traffic_pattern traffic_hotspot = {
	.name = "hotspot", .init = init, .fini = free, .sends = sends, .destination = destination};
