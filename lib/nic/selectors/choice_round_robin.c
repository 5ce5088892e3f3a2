/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	uint8_t *next = &choice->next[message->destination];
	unsigned chosen = *next % message->count;

	*next = (uint8_t)((chosen + 1) % message->count);
	return chosen;
}

const struct route_choice_ops route_choice_round_robin = {.name = "round-robin", .choose = choose};
