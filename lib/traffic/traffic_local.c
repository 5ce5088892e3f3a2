/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message to one of the hosts near the sender, all equally likely (the thesis, 4.5). Which
 * ones are near is for the caller to say, who has the topology. A host with nobody near is silent.
 */

#include <stdlib.h>

#include "traffic_targets.h"

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	struct traffic_targets *targets;
	int result = traffic_targets_create(
		&targets, config, config->near, config->near_count, "near host", fault);

	if (result == 0)
		*state = targets;
	return result;
}

static bool sends(const void *state, const struct traffic_config *config)
{
	return ((const struct traffic_targets *)state)->count > 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return traffic_targets_draw(state, rng);
}

const struct traffic_pattern traffic_local = {
	.name = "local", .init = init, .fini = free, .sends = sends, .destination = destination};
