/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Host a(n-1) ... a(0) to host a(n/2-1) ... a(0) a(n-1) ... a(n/2): row and column of a square
 * matrix exchanged. */

#include <stdlib.h>

#include "traffic_bits.h"

static uint16_t partner(uint16_t host, unsigned bits)
{
	unsigned half = bits / 2;

	return (uint16_t)(host >> half | (host & ((1u << half) - 1)) << half);
}

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	return traffic_bits_init(state, config, partner, true, fault);
}

const struct traffic_pattern traffic_transpose = {.name = "transpose",
	.init = init,
	.fini = free,
	.sends = traffic_bits_sends,
	.destination = traffic_bits_destination};
