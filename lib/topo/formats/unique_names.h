/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Names for devices from texts that others have chosen freely: what a name may not have becomes
 * '_', and a name that is taken gets a number, "leaf", "leaf-2", "leaf-3".
 */

#include <stddef.h>

#include "topology.h"

struct unique_names;

/* NULL without memory. */
struct unique_names *unique_names_create(void);
void unique_names_destroy(struct unique_names *names);

/* The name for 'text' with 'ending' (valid, short, may be "") after it, different from all names
 * given so far. A text that is a name already and not taken stays as it is. 0 or -ENOMEM. */
int unique_names_add(struct unique_names *names, const char *text, size_t length,
	const char *ending, char out[TOPOLOGY_NAME_MAX]);

/* A text as a name, without looking at others. */
void unique_names_spell(
	const char *text, size_t length, const char *ending, char out[TOPOLOGY_NAME_MAX]);
