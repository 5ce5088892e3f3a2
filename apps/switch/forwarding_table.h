/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The forwarding table of a stand-alone switch: from a file of lines 'DESTINATION PORT' (decimal
 * numbers; '#' starts a comment), or "modulo:HOSTS".
 */

#include <stdint.h>

#include "fault.h"

struct forwarding_table {
	uint8_t *port; /* by destination; SWITCH_PORT_NONE: no route */
	uint32_t hosts;
};

/* 'from' may be NULL: an empty table. 0, or -errno and fault ("FILE:LINE: …"). */
int forwarding_table_load(
	struct forwarding_table *table, const char *from, unsigned ports, struct fault *fault);
void forwarding_table_free(struct forwarding_table *table);
