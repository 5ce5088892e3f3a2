/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Which of the alternative routes to a destination a message takes (nic.md 1). One file per way of
 * choosing; all frames of a message take the same route. Adding a way: a file with its ops and a
 * line in route_choice.c.
 */

#include <stdint.h>

#include "rng.h"

struct route_choice;

struct route_choice_ops {
	const char *name;
	/* An index below 'count', which is 2 or more. */
	unsigned (*choose)(struct route_choice *choice, uint16_t destination, unsigned count);
};

struct route_choice {
	const struct route_choice_ops *ops;
	struct rng rng;
	uint8_t *next; /* [hosts], round robin; the owner's memory */
};

extern const struct route_choice_ops route_choice_first;
extern const struct route_choice_ops route_choice_random;
extern const struct route_choice_ops route_choice_round_robin;

/* By name ("first", "random", "round-robin"); NULL if there is none. */
const struct route_choice_ops *route_choice_find(const char *name);
/* The i-th, for lists; NULL past the end. */
const struct route_choice_ops *route_choice_at(unsigned i);
