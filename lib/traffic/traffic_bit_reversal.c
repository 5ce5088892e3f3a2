/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Host a(n-1) ... a(0) to host a(0) ... a(n-1). */

#include <stdlib.h>

#include "traffic_bits.h"

static uint16_t partner(uint16_t host, unsigned bits)
{
	uint16_t reversed = 0;

	for (unsigned i = 0; i < bits; i++)
		reversed |= (uint16_t)((host >> i & 1) << (bits - 1 - i));
	return reversed;
}

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	return traffic_bits_init(state, config, partner, false, fault);
}

const struct traffic_pattern traffic_bit_reversal = {.name = "bit-reversal",
	.init = init,
	.fini = free,
	.sends = traffic_bits_sends,
	.destination = traffic_bits_destination};
