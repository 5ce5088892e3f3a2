/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The thesis' UD_ITB_50 (section 5.5.2): a share of the messages takes the set without ITBs, the
 * others the one with them. Drawn for each message, so that no order of destinations can fall into
 * step with it. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	if (rng_chance_ppm(&choice->rng, choice->options.first_set_ppm))
		return route_choice_first_of_set(choice, message, 0);
	return route_choice_first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_fraction = {
	.name = "fraction", .sets = 2, .choose = choose};
