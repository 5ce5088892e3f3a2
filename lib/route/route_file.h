/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The text route file (docs, 'Route file'): a header line, then one route a line, lines of one pair
 * in order of preference:
 *
 *	# weft routes/1 topology=NAME algorithm=ud seed=7 root=s0
 *	h0 h5 s0:9 s4:2 s6:1 !h12 s6:3 s1:0
 *
 * "s0:9" leaves switch s0 by port 9; "!h12" is absorbed by host h12 and re-injected by it. Empty
 * lines and further lines that begin with '#' are passed over. Writing and reading give the same
 * routes back; a file that does not fit the topology is refused where it does not.
 */

#include <stdio.h>

#include "fault.h"
#include "route_set.h"
#include "topology.h"

#define ROUTE_FILE_MAGIC "# weft routes/1"

/* Every route of the set, which is one of this topology. -EIO; -EINVAL if a route leaves by a port
 * that has no link. */
int route_file_write(const struct topology *topology, const struct route_set *set, FILE *out,
	struct fault *fault);

/* NULL and 'fault' "ORIGIN:LINE: what is wrong, what was expected"; '*result' (may be NULL) is then
 * -EINVAL, -ENOMEM or -EIO. The caller owns the set. */
struct route_set *route_file_read(const struct topology *topology, FILE *in, const char *origin,
	int *result, struct fault *fault);

/* The same from a file by name; -ENOENT and the like if it cannot be opened. */
struct route_set *route_file_load(
	const struct topology *topology, const char *path, int *result, struct fault *fault);

/* One route as in the file, from its first switch on, into 'out'. The length that it has, as
 * snprintf; -EINVAL if it leaves by a port that has no link. */
int route_text(const struct topology *topology, uint32_t source, const uint8_t *route,
	unsigned length, char *out, size_t size);

/* A topology's name as it stands in the header: without blanks. */
void route_file_label(const char *name, char label[ROUTE_LABEL_MAX]);
