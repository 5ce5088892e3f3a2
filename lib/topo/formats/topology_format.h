/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Topologies in the formats of other programs. A format is one file that defines one struct
 * topology_format, format_NAME, and one word in TOPOLOGY_FORMATS. Weft's own format is handled by
 * topology_write() and topology_load(). */

#include <regex.h>

#include "topo/topology.h"

struct ib_addresses;

#define TOPOLOGY_FORMATS(X) \
	X(ibnetdiscover)    \
	X(ibnetdiscover_p)  \
	X(ibsim) X(iblinkinfo) X(opensm) X(slurm) X(ns3) X(booksim) X(htsim) X(dot)

/* Options for reading another program's file. Listings of real networks have lines that do not
 * belong there, contradictions and devices that take no part in traffic. These are left out, each
 * with a note; with 'strict' the first one is an error. Zero-initialised: lenient, notes only
 * counted. */
struct topology_import {
	bool strict;
	const regex_t *only;    /* NULL, or the adapters and routers to keep, by description */
	const regex_t *exclude; /* NULL, or the nodes to leave out, by description */
	/* Called for each note, "FILE:LINE:COLUMN: what is odd; what was done about it"; may be
	 * NULL. */
	void (*note)(void *context, const char *text);
	void *context;
	uint32_t notes;
	/* NULL, or receives the ports of InfiniBand listings (ib_counters.h). */
	struct ib_addresses *addresses;
};

/* 'odd' describes something that does not belong in the file. In strict mode it is copied to
 * 'error', and -EINVAL is returned; otherwise it is noted with what was done about it ("the line is
 * left out"), and 0 is returned. */
int topology_import_odd(struct topology_import *import, const struct error *odd, const char *became,
	struct error *error);
/* Notes, in either mode, something that is left out on purpose. */
void topology_import_note(struct topology_import *import, const struct error *note);

struct topology_format {
	const char *name;
	const char *help; /* one line */
	/* NULL for formats that are only read. Writes a finished topology. 0, or -EINVAL with
	 * 'error' if the format cannot express it; the caller checks 'out' for errors. */
	int (*write)(const struct topology *topology, FILE *out, struct error *error);
	/* Reads a topology; 'origin' is the file name for messages, and included files are looked
	 * for in its folder. Returns NULL with FILE:LINE:COLUMN in 'error' and errno EINVAL, or
	 * ENOMEM. The pointer is NULL for write-only formats. */
	struct topology *(*read)(const char *text, size_t length, const char *origin,
		struct topology_import *import, struct error *error);
};

#define X(name) extern const struct topology_format format_##name;
TOPOLOGY_FORMATS(X)
#undef X

/* Refuses a second link between two switches, which the program's format cannot express. */
int topology_check_parallel(
	const struct topology *topology, const char *program, struct error *error);

/* Refuses hosts with several ports, which the program's format cannot express. */
int topology_check_single_ports(
	const struct topology *topology, const char *program, struct error *error);

/* Format i of the list; NULL after the last. */
const struct topology_format *topology_format_at(unsigned i);
/* Returns NULL if no format has this name. */
const struct topology_format *topology_format_find(const char *name);
