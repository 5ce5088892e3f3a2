/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Route files. The text format (docs/reference/route-file.md, 'Route file'): a header line, then
 * one route per line, lines of one pair in order of preference:
 *
 *     # weft routes/1 topology=NAME algorithm=ud seed=7 root=s0 routes=56
 *     h0 h5 s0:9 s4:2 s6:1 !h12 s6:3 s1:0
 *
 * "s0:9" leaves switch s0 through port 9; at "!h12" host h12 absorbs and re-injects the message;
 * "^s4:2" begins a step. Empty lines and other lines that begin with '#' are ignored. If routes
 * have VC classes, the header also has 'vcs=2', with steps 'steps=links' or 'steps=equal' as well,
 * and each port of a ring (vc_rule.h) has a line
 *
 *     # vc s0:1 ring=0 dateline
 *
 * A writer announces the number of routes, so that truncated files are detected; a file made by
 * hand need not.
 *
 * Writing and reading preserve the routes. The reader refuses a file at the place where it does not
 * match the topology. route_binary.h is the binary format; reading accepts either. */

#include <stdbool.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

#define ROUTE_FILE_MAGIC "# weft routes/1"
#define ROUTE_FILE_VC    "# vc "

/* Contents of a file: routes, or tables; the other is NULL. */
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

/* Writes the text of every route of the set, which belongs to this topology. -EIO; -EINVAL if a
 * route uses a port without a link. */
int route_file_write(const struct topology *topology, const struct route_set *set, FILE *out,
	struct error *error);

/* Reads text or binary. Returns 0, and the caller closes the file; or -EINVAL, -ENOMEM or -EIO with
 * 'error' "ORIGIN:LINE: what is wrong, what was expected" (binary: "ORIGIN: byte N: …"). */
int route_file_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error);
/* The same for a file given by name, "-" for standard input; -ENOENT and the like if it cannot be
 * opened. */
int route_file_load(const struct topology *topology, const char *path, struct route_file *file,
	struct error *error);
void route_file_close(struct route_file *file);

/* The header of a file, which describes the rest. */
struct route_file_header {
	struct route_origin origin;
	bool tables; /* the file holds tables, not routes */
};

/* Reads the header alone, for which no topology is needed. Errors as route_file_load(); only a
 * regular file is opened. */
int route_file_load_header(const char *path, struct route_file_header *header, struct error *error);
/* The same from an open file. */
int route_file_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error);

/* Writes one route in the file's format, from its first switch on, to 'out'. Returns its length,
 * like snprintf(); -EINVAL if it uses a port without a link. */
int route_text(const struct topology *topology, uint32_t source, const uint8_t *route,
	unsigned length, char *out, size_t size);

/* A topology's name as in the header: without spaces. */
void route_file_label(const char *name, char label[ROUTE_LABEL_MAX]);
