/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

#include <stddef.h>
#include <string.h>

static const struct route_choice_ops *const choices[] = {
	&route_choice_first,
	&route_choice_random,
	&route_choice_round_robin,
};

const struct route_choice_ops *route_choice_at(unsigned i)
{
	return i < sizeof(choices) / sizeof(choices[0]) ? choices[i] : NULL;
}

const struct route_choice_ops *route_choice_find(const char *name)
{
	const struct route_choice_ops *ops;

	for (unsigned i = 0; (ops = route_choice_at(i)) != NULL; i++)
		if (strcmp(ops->name, name) == 0)
			return ops;
	return NULL;
}
