/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What routes or tables leave unreachable, to be told to people: after failures that is an answer,
 * not an error. */

#include "route_file.h"

struct route_gaps {
	uint64_t pairs;               /* ordered pairs of hosts without a route */
	uint64_t other;               /* those of them between hosts that are not cut off */
	uint32_t source, destination; /* the first of the others */
	uint32_t *cut_off;            /* hosts that reach nobody and that nobody reaches */
	uint32_t cut_offs;
};

/* By what stands in the set, or in the table of the source's switch. -ENOMEM. The caller frees. */
int route_gaps_find(
	const struct topology *topology, const struct route_file *file, struct route_gaps *gaps);
void route_gaps_free(struct route_gaps *gaps);

/* One line: which hosts are cut off, and how many other pairs have no route. */
void route_gaps_text(
	const struct topology *topology, const struct route_gaps *gaps, char *out, size_t size);
