/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* All messages of a host to one other host. Without a list: a random cycle through all hosts, so
 * that no host sends to itself and each receives from exactly one. */

#include <stdlib.h>

#include "traffic_pattern.h"

/* Of the run, not of a host: all draw the same cycle. */
#define STREAM_CYCLE  0x7c01
#define DEVICE_OF_RUN UINT64_MAX

/* The successor of 'host' in the cycle; Sattolo's shuffle makes one cycle of all. */
static int draw_cycle(const struct traffic_config *config, uint16_t *to)
{
	uint16_t *next = malloc(config->hosts * sizeof(next[0]));
	struct rng rng;

	if (next == NULL)
		return -ENOMEM;
	rng_init(&rng, config->seed, DEVICE_OF_RUN, STREAM_CYCLE);
	for (unsigned i = 0; i < config->hosts; i++)
		next[i] = (uint16_t)i;
	for (unsigned i = config->hosts - 1u; i > 0; i--) {
		unsigned j = (unsigned)rng_below(&rng, i);
		uint16_t swapped = next[i];

		next[i] = next[j];
		next[j] = swapped;
	}
	*to = next[config->host];
	free(next);
	return 0;
}

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	uint16_t *to = malloc(sizeof(*to));

	if (to == NULL)
		return fault_set(fault, ENOMEM, "no memory for permutation traffic");
	if (config->permutation != NULL) {
		*to = config->permutation[config->host];
	} else if (draw_cycle(config, to) < 0) {
		free(to);
		return fault_set(fault, ENOMEM, "no memory for permutation traffic");
	}
	if (*to == config->host)
		*to = TRAFFIC_NOWHERE;
	if (*to != TRAFFIC_NOWHERE && *to >= config->hosts) {
		int result = fault_set(fault, EINVAL,
			"permutation target %u does not exist, there are %u hosts", *to,
			config->hosts);

		free(to);
		return result;
	}
	*state = to;
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
