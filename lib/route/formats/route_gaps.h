/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The pairs that routes or tables leave unreachable, for reports: after failures they are a result,
 * not an error. */

#include "route_file.h"

struct route_gaps {
	uint64_t pairs;               /* ordered pairs of hosts without a route */
	uint64_t other;               /* of these, pairs of hosts that are not cut off */
	uint32_t source, destination; /* the first of these */
	uint32_t *cut_off;            /* hosts that no host reaches in either direction */
	uint32_t cut_offs;
};

/* By the routes of the set, or the table of the source's switch. -ENOMEM. The caller frees. */
int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps);
void route_gaps_free(struct route_gaps *gaps);

/* One line: the hosts that are cut off, and the number of other pairs without a route. */
void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size);
