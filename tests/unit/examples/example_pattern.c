/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "traffic/traffic_pattern.h"

/* Tornado (Dally and Towles, Principles and Practices of Interconnection Networks, 3.2). Each of N
 * hosts sends to the host (N - 1) / 2 numbers after its own, in a ring of all numbers. */

static int init(void **state, const struct traffic_config *config, struct error *error)
{
	uint16_t *to = malloc(sizeof(*to));

	if (to == NULL)
		return error_set(error, ENOMEM, "not enough memory for tornado traffic");
	*to = (uint16_t)((config->host + (config->hosts - 1u) / 2) % config->hosts);
	*state = to;
	return 0;
}

/* With one or two hosts, each would send to itself. */
static bool sends(const void *state, const struct traffic_config *config)
{
	return *(const uint16_t *)state != config->host;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return *(uint16_t *)state;
}

const struct traffic_pattern traffic_tornado = {
	.name = "tornado",
	.summary = "the host (N - 1) / 2 numbers after the sender's, in a ring of all N",
	.keys = TRAFFIC_FROM | TRAFFIC_RATE,
	.init = init,
	.fini = free,
	.sends = sends,
	.destination = destination,
};
