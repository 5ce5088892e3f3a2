/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The thesis' UD_ITB_DET1 and DET2 (section 5.5.3): routes with ITBs when the coefficient of those
 * without is above 1 + K, whatever the former have shown themselves. The thesis says it in two
 * ways, this is the second; by the first, K is added to what the routes with ITBs have shown. That
 * sends messages back to the routes without as soon as the others are held back, too, which
 * saturates a network of 32 switches at 0.8 of UD_ITB's traffic, where the thesis has all of it. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	return route_choice_unless_contended(choice, message);
}

const struct route_choice_ops route_choice_detect = {
	.name = "detect", .sets = 2, .learns = true, .choose = choose, .learn = route_choice_note};
