/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	return (unsigned)rng_below(&choice->rng, message->count);
}

const struct route_choice_ops route_choice_random = {.name = "random", .choose = choose};
