/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

static unsigned choose(struct route_choice *choice, uint16_t destination, unsigned count)
{
	return (unsigned)rng_below(&choice->rng, count);
}

const struct route_choice_ops route_choice_random = {.name = "random", .choose = choose};
