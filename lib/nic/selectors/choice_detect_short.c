/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* From the thesis' future work (section 6.3): a long message does not feel an ITB and always takes
 * the last set; a short one only when contention has been detected on the first. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes > choice->options.short_bytes)
		return route_choice_first_of_last_set(choice, message);
	return route_choice_unless_contended(choice, message);
}

const struct route_choice_ops route_choice_detect_short = {
	.name = "detect-short",
	.sets = 2,
	.learns = true,
	.choose = choose,
	.learn = route_choice_note,
};
