/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Host a(n-1) ... a(0) to host a(0) a(n-2) ... a(1) a(n-1): the first and the last bit exchanged.
 */

#include <stdlib.h>

#include "traffic_bits.h"

static uint16_t partner(uint16_t host, unsigned bits)
{
	unsigned ends = (host >> (bits - 1) ^ host) & 1;

	return (uint16_t)(host ^ (ends << (bits - 1) | ends));
}

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	return traffic_bits_init(state, config, partner, false, fault);
}

const struct traffic_pattern traffic_butterfly = {.name = "butterfly",
	.init = init,
	.fini = free,
	.sends = traffic_bits_sends,
	.destination = traffic_bits_destination};
