/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "adaptive_routing.h"

/* Any of the ports, whatever the traffic. */

static unsigned choose(struct adaptive *adaptive, unsigned primary, uint64_t others, unsigned vc)
{
	return bits_draw(others | BIT64(primary), &adaptive->rng);
}

const struct adaptive_mode adaptive_oblivious = {.name = "oblivious", .choose = choose};
