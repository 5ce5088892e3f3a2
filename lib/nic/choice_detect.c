/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The thesis' UD_ITB_DET1 and DET2 (section 5.5.3): the coefficients of routes with ITBs count K
 * more. While those have shown nothing, a route of the first set is taken until its own is above
 * 1 + K. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	return route_choice_least(choice, message, choice->options.threshold[0]);
}

const struct route_choice_ops route_choice_detect = {
	.name = "detect", .sets = 2, .learns = true, .choose = choose, .learn = route_choice_note};
