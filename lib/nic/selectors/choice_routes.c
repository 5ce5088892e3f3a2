/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Selectors among all routes of a pair. */

#include "route_choice.h"

static unsigned first(struct route_choice *choice, const struct route_choice_message *message)
{
	return 0;
}

const struct route_choice_ops route_choice_first = {
	.name = "first", .fixed = true, .choose = first};

static unsigned any(struct route_choice *choice, const struct route_choice_message *message)
{
	return (unsigned)rng_below(&choice->rng, message->count);
}

const struct route_choice_ops route_choice_random = {.name = "random", .choose = any};

static unsigned next(struct route_choice *choice, const struct route_choice_message *message)
{
	uint8_t *next = &choice->next[message->destination];
	unsigned chosen = *next % message->count;

	*next = (uint8_t)((chosen + 1) % message->count);
	return chosen;
}

const struct route_choice_ops route_choice_round_robin = {.name = "round-robin", .choose = next};

/* The thesis' DET (section 2.4, figures 35 and 36): the route on which the latest message was held
 * back least. What a route has shown is forgotten little by little while others are used. */
static unsigned least(struct route_choice *choice, const struct route_choice_message *message)
{
	return route_choice_least(choice, message, ~0u);
}

const struct route_choice_ops route_choice_contention = {
	.name = "contention", .learns = true, .choose = least, .learn = route_choice_note};
