/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

static unsigned choose(struct route_choice *choice, uint16_t destination, unsigned count)
{
	unsigned chosen = choice->next[destination] % count;

	choice->next[destination] = (uint8_t)((chosen + 1) % count);
	return chosen;
}

const struct route_choice_ops route_choice_round_robin = {.name = "round-robin", .choose = choose};
