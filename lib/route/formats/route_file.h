/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Route files. The text format (docs/reference/route-file.md, 'Route file') is a header line, then
 * one route per line, with the lines of a pair in order of preference:
 *
 *     # weft routes/1 topology=NAME algorithm=ud seed=7 root=s0 routes=56
 *     h0 h5 s0:9 s4:2 s6:1 !h12 s6:3 s1:0
 *
 * "s0:9" leaves switch s0 through port 9; at "!h12" host h12 absorbs and re-injects the message;
 * "^s4:2" starts a step. Empty lines and other lines that start with '#' are ignored. If routes
 * have VC classes, the header also has 'vcs=2' and, for steps, 'steps=links' or 'steps=equal', and
 * each port of a ring (vc_rule.h) has a line
 *
 *     # vc s0:1 ring=0 dateline
 *
 * Weft writes the number of routes, so that truncated files are detected; the number is optional.
 *
 * Writing and reading preserve the routes. The reader reports the first position that does not
 * match the topology. route_binary.h is the binary format; the reader accepts both. */

#include <stdbool.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

#define ROUTE_FILE_MAGIC "# weft routes/1"
#define ROUTE_FILE_VC    "# vc "

/* Contents of a file: routes or tables; the other member is NULL. */
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

/* Writes every route of the set, which belongs to this topology, as text. Returns 0, -EIO, or
 * -EINVAL if a route uses a port without a link. */
int route_file_write(const struct topology *topology, const struct route_set *set, FILE *out,
	struct error *error);

/* Reads text or binary; the caller closes the file. Returns 0, or -EINVAL, -ENOMEM or -EIO with an
 * error "ORIGIN:LINE: FAULT, expected …" (binary: "ORIGIN: byte N: …"). */
int route_file_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error);
/* Like route_file_read(), for a path; "-" is standard input. Also returns -ENOENT and similar
 * errors if the file cannot be opened. */
int route_file_load(const struct topology *topology, const char *path, struct route_file *file,
	struct error *error);
void route_file_close(struct route_file *file);

/* The header of a file. */
struct route_file_header {
	struct route_origin origin;
	bool tables; /* the file contains tables, not routes */
};

/* Reads only the header, which requires no topology. Opens only regular files. Errors as in
 * route_file_load(). */
int route_file_load_header(const char *path, struct route_file_header *header, struct error *error);
/* Like route_file_load_header(), from an open file. */
int route_file_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error);

/* Writes one route to 'out' in the file's format, starting with the first switch. Returns its
 * length, like snprintf(), or -EINVAL if it uses a port without a link. */
int route_text(const struct topology *topology, uint32_t source, const uint8_t *route,
	unsigned length, char *out, size_t size);

/* Converts a topology's name to the form in the header, which has no spaces. */
void route_file_label(const char *name, char label[ROUTE_LABEL_MAX]);
