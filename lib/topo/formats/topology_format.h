/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Topologies in the formats of other programs. A format is one file that defines one struct
 * topology_format, format_NAME, and one entry in TOPOLOGY_FORMATS. topology_write() and
 * topology_load() handle Weft's own format. */

#include <regex.h>

#include "topo/topology.h"

struct ib_addresses;

#define TOPOLOGY_FORMATS(X) \
	X(ibnetdiscover)    \
	X(ibnetdiscover_p)  \
	X(ibsim) X(iblinkinfo) X(opensm) X(slurm) X(ns3) X(booksim) X(htsim) X(dot)

/* Options for reading another program's file. Listings of real networks have invalid lines,
 * contradictions and devices without traffic. These are left out, with notes. With 'strict', the
 * first invalid or contradictory line is an error, and devices are kept. If initialised with zeros:
 * not strict, and notes are only counted. */
struct topology_import {
	bool strict;
	const regex_t *only;    /* adapters and routers to keep, by description; NULL: all */
	const regex_t *exclude; /* nodes to leave out, by description; NULL: none */
	/* Called for each note: "FILE:LINE:COLUMN: problem; how it was handled". May be NULL. */
	void (*note)(void *context, const char *text);
	void *context;
	uint32_t notes;
	/* Receives the ports of InfiniBand listings (ib_counters.h). May be NULL. */
	struct ib_addresses *addresses;
};

/* Handles an inconsistency, 'odd'. In strict mode copies it to 'error' and returns -EINVAL.
 * Otherwise notes it with its handling ('became', such as "the line is left out") and returns 0. */
int topology_import_odd(struct topology_import *import, const struct error *odd, const char *became,
	struct error *error);
/* Notes, in either mode, what is left out on purpose. */
void topology_import_note(struct topology_import *import, const struct error *note);

struct topology_format {
	const char *name;
	const char *help; /* one line */
	/* Writes a finished topology. Returns 0, or -EINVAL with 'error' set if the format cannot
	 * express it. The caller checks 'out' for errors. NULL if the format can only be read. */
	int (*write)(const struct topology *topology, FILE *out, struct error *error);
	/* Reads a topology. 'origin' is the file name for messages; included files are relative to
	 * its folder. Returns NULL with FILE:LINE:COLUMN in 'error' and errno EINVAL, or ENOMEM.
	 * NULL if the format can only be written. */
	struct topology *(*read)(const char *text, size_t length, const char *origin,
		struct topology_import *import, struct error *error);
};

#define X(name) extern const struct topology_format format_##name;
TOPOLOGY_FORMATS(X)
#undef X

/* Fails if two switches are connected by more than one link, which the program's format cannot
 * express. */
int topology_check_parallel(
	const struct topology *topology, const char *program, struct error *error);

/* Fails if a host has several ports, which the program's format cannot express. */
int topology_check_single_ports(
	const struct topology *topology, const char *program, struct error *error);

/* Returns format i of the list, or NULL after the last. */
const struct topology_format *topology_format_at(unsigned i);
/* Returns NULL if no format has this name. */
const struct topology_format *topology_format_find(const char *name);
