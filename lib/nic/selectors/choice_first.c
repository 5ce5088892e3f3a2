/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	return 0;
}

const struct route_choice_ops route_choice_first = {.name = "first", .choose = choose};
