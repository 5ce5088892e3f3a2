/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The thesis' UD_ITB_ML (section 5.5.1): short messages feel what an ITB costs, so they take the
 * set with few of them, and long ones the set with many. */

#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes <= choice->options.short_bytes)
		return route_choice_first_of_set(choice, message, 0);
	return route_choice_first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_message_length = {
	.name = "message-length", .sets = 2, .choose = choose};
