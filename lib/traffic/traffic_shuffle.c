/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Host a(n-1) ... a(0) to host a(n-2) ... a(0) a(n-1): the perfect shuffle. */

#include <stdlib.h>

#include "traffic_bits.h"

static uint16_t partner(uint16_t host, unsigned bits)
{
	return (uint16_t)((host << 1 & ((1u << bits) - 1)) | host >> (bits - 1));
}

static int init(void **state, const struct traffic_config *config, struct fault *fault)
{
	return traffic_bits_init(state, config, partner, false, fault);
}

const struct traffic_pattern traffic_shuffle = {.name = "shuffle",
	.init = init,
	.fini = free,
	.sends = traffic_bits_sends,
	.destination = traffic_bits_destination};
