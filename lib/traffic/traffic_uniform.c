/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message to any other host, all equally likely. */

#include "traffic_targets.h"

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	if (config->hosts < 2)
		return fault_set(fault, EINVAL, "uniform traffic needs 2 hosts or more");
	return 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return traffic_draw_other(config, rng);
}

const struct traffic_pattern traffic_uniform = {
	.name = "uniform", .init = init, .destination = destination};
