/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message to any other host, all equally likely. */

#include "traffic_pattern.h"

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	if (config->hosts < 2)
		return fault_set(fault, EINVAL, "uniform traffic needs 2 hosts or more");
	return 0;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	uint16_t chosen = (uint16_t)rng_below(rng, config->hosts - 1u);

	return chosen < config->host ? chosen : (uint16_t)(chosen + 1);
}

const struct traffic_pattern traffic_uniform = {
	.name = "uniform", .init = init, .destination = destination};
