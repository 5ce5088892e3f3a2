/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The thesis' DET (section 2.4, figures 35 and 36): the route on which the latest message was held
 * back least. What a route has shown is forgotten little by little while others are used. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	return route_choice_least(choice, message, ~0u);
}

const struct route_choice_ops route_choice_contention = {
	.name = "contention", .learns = true, .choose = choose, .learn = route_choice_note};
