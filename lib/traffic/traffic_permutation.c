/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* All messages of a host to one other host, by a list of all hosts. */

#include <stdlib.h>

#include "traffic_pattern.h"

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	uint16_t to, *kept;

	if (config->permutation == NULL)
		return fault_set(fault, EINVAL, "permutation traffic needs a list of pairs");
	to = config->permutation[config->host];
	if (to == config->host)
		to = TRAFFIC_NOWHERE;
	if (to != TRAFFIC_NOWHERE && to >= config->hosts)
		return fault_set(fault, EINVAL,
			"permutation target %u does not exist, there are %u hosts", to,
			config->hosts);
	kept = malloc(sizeof(*kept));
	if (kept == NULL)
		return fault_set(fault, ENOMEM, "no memory for permutation traffic");
	*kept = to;
	*state = kept;
	return 0;
}

static bool sends(const void *state, const struct traffic_config *config)
{
	return *(const uint16_t *)state != TRAFFIC_NOWHERE;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return *(uint16_t *)state;
}

const struct traffic_pattern traffic_permutation = {.name = "permutation",
	.keys = TRAFFIC_FILE | TRAFFIC_RATE,
	.pairs = true,
	.init = init,
	.fini = free,
	.sends = sends,
	.destination = destination};
