/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic_bits.h"

#include <stdlib.h>

static unsigned bits_of(uint16_t hosts)
{
	unsigned bits = 0;

	while (hosts > 1u << bits)
		bits++;
	return bits;
}

int traffic_bits_init(void **state, const struct traffic_config *config, traffic_bits_fn *partner,
	bool even, struct fault *fault)
{
	unsigned bits = bits_of(config->hosts);
	uint16_t *to;

	if (config->hosts < 2 || config->hosts != 1u << bits)
		return fault_set(fault, EINVAL,
			"%s traffic permutes the bits of host numbers: a power of two of hosts was "
			"expected, there are %u",
			config->pattern, config->hosts);
	if (even && bits % 2 != 0)
		return fault_set(fault, EINVAL,
			"%s traffic exchanges the halves of host numbers: an even power of two of "
			"hosts (4, 16, 64, ...) was expected, there are %u",
			config->pattern, config->hosts);
	to = malloc(sizeof(*to));
	if (to == NULL)
		return fault_set(fault, ENOMEM, "no memory for %s traffic", config->pattern);
	*to = partner(config->host, bits);
	*state = to;
	return 0;
}

bool traffic_bits_sends(const void *state, const struct traffic_config *config)
{
	return *(const uint16_t *)state != config->host;
}

uint16_t traffic_bits_destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	return *(uint16_t *)state;
}
