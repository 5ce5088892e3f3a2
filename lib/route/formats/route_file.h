/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Route files. The text one (docs/files.md, 'Route file'): a header line, then one route a line,
 * lines of one pair in order of preference:
 *
 *	# weft routes/1 topology=NAME algorithm=ud seed=7 root=s0 routes=56
 *	h0 h5 s0:9 s4:2 s6:1 !h12 s6:3 s1:0
 *
 * "s0:9" leaves switch s0 by port 9; "!h12" is absorbed by host h12 and re-injected by it. Empty
 * lines and further lines that begin with '#' are passed over, but for the VC classes of routes
 *that have any: 'vcs=2' in the header, and for each port of a ring (vc_rule.h)
 *
 *	# vc s0:1 ring=0 dateline
 *
 * Who writes announces how many routes there are, so that a file that is cut off is noticed; a file
 * made by hand need not say.
 *
 * Writing and reading give the same routes back; a file that does not fit the topology is refused
 * where it does not. The binary one is route_binary.h's; reading takes either.
 */

#include <stdbool.h>
#include <stdio.h>

#include "fault.h"
#include "route_set.h"
#include "route_table.h"
#include "topology.h"

#define ROUTE_FILE_MAGIC "# weft routes/1"
#define ROUTE_FILE_VC    "# vc "

/* What a file holds: routes, or tables; the other is NULL. */
struct route_file {
	struct route_set *set;
	struct route_table *table;
};

static inline const struct route_origin *route_file_origin(const struct route_file *file)
{
	return file->set != NULL ? route_set_origin_const(file->set) : &file->table->origin;
}

static inline const struct vc_rule *route_file_vc_rule(const struct route_file *file)
{
	return file->set != NULL ? route_set_vc_rule(file->set) : file->table->vc_rule;
}

/* The text of every route of the set, which is one of this topology. -EIO; -EINVAL if a route
 * leaves by a port that has no link. */
int route_file_write(const struct topology *topology, const struct route_set *set, FILE *out,
	struct fault *fault);

/* From text or binary. 0 and the caller closes; or 'fault' "ORIGIN:LINE: what is wrong, what was
 * expected" (binary: "ORIGIN: byte N: …") and -EINVAL, -ENOMEM or -EIO. */
int route_file_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct fault *fault);
/* The same from a file by name, "-" being standard input; -ENOENT and the like if it cannot be
 * opened. */
int route_file_load(const struct topology *topology, const char *path, struct route_file *file,
	struct fault *fault);
void route_file_close(struct route_file *file);

/* The header of a file, which says what the rest is. */
struct route_file_header {
	struct route_origin origin;
	bool tables; /* the file holds tables, not routes */
};

/* Reads the header alone, for which no topology is needed. Errors as route_file_load(); only a
 * regular file is opened. */
int route_file_load_header(const char *path, struct route_file_header *header, struct fault *fault);
/* The same from an open file. */
int route_file_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct fault *fault);

/* One route as in the file, from its first switch on, into 'out'. The length that it has, as
 * snprintf; -EINVAL if it leaves by a port that has no link. */
int route_text(const struct topology *topology, uint32_t source, const uint8_t *route,
	unsigned length, char *out, size_t size);

/* A topology's name as it stands in the header: without blanks. */
void route_file_label(const char *name, char label[ROUTE_LABEL_MAX]);
