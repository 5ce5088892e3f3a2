/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Device names from foreign texts: an invalid character becomes '_', and a name already in use gets
 * a number, "leaf", "leaf-2", "leaf-3".
 */

#include <stddef.h>

#include "topology.h"

struct unique_names;

/* NULL without memory. */
struct unique_names *unique_names_create(void);
void unique_names_destroy(struct unique_names *names);

/* The name for 'text' followed by 'ending' (valid, short, may be ""), different from all names
 * given so far. A valid text that is not in use is unchanged. 0 or -ENOMEM. */
int unique_names_add(struct unique_names *names, const char *text, size_t length,
	const char *ending, char out[TOPOLOGY_NAME_MAX]);

/* Spells a text as a name; does not check for duplicates. */
void unique_names_spell(
	const char *text, size_t length, const char *ending, char out[TOPOLOGY_NAME_MAX]);
