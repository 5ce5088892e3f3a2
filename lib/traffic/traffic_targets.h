/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Lists of hosts of which each message takes one at random: hot spots and neighbours. */

#include "traffic_pattern.h"

struct traffic_targets {
	uint16_t count;
	uint16_t target[]; /* never the sender */
};

/* Copies the list without the sender. 'what' is for messages. 0 or -errno with fault. */
int traffic_targets_create(struct traffic_targets **targets, const struct traffic_config *config,
	const uint16_t *list, uint16_t count, const char *what, struct fault *fault);

static inline uint16_t traffic_targets_draw(const struct traffic_targets *targets, struct rng *rng)
{
	return targets->target[rng_below(rng, targets->count)];
}

/* The drawn-th of the hosts but 'host'. */
static inline uint16_t traffic_other(uint16_t host, uint64_t drawn)
{
	return (uint16_t)(drawn + (drawn >= host));
}

/* Any host but the sender. */
static inline uint16_t traffic_draw_other(const struct traffic_config *config, struct rng *rng)
{
	return traffic_other(config->host, rng_below(rng, config->hosts - 1u));
}
