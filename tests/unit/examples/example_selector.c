/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic/selectors/route_choice.h"

/* Chooses the better of two routes drawn at random (Mitzenmacher, The Power of Two Choices in
 * Randomized Load Balancing, IEEE TPDS 12, 2001): the one on which the latest message was delayed
 * less. Hosts with the same information therefore do not all move to the same route. */

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	unsigned a = (unsigned)rng_below(&choice->rng, message->count);
	unsigned b = (unsigned)rng_below(&choice->rng, message->count);
	uint32_t shown_by_a = *route_choice_coefficient(choice, message->destination, a);

	return shown_by_a <= *route_choice_coefficient(choice, message->destination, b) ? a : b;
}

const struct route_choice_ops route_choice_two_choices = {
	.name = "two-choices",
	.summary = "the better of two drawn at random",
	.learns = true,
	.choose = choose,
	.learn = route_choice_note,
};
