/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What 'weft route verify', 'show' and 'export' are about: a topology, possibly with failures, and
 * one or more route files on it. */

#include "commands.h"
#include "route_file.h"
#include "topology_cut.h"

#define SUBJECT_FILES_MAX 8

/* The arguments, as they come. */
struct subject_request {
	const char *command;  /* for messages */
	unsigned files_max;   /* that the command takes */
	const char *topology; /* NULL until it is given */
	const char *name[SUBJECT_FILES_MAX];
	unsigned files;
	struct topology_cut cut; /* --without */
};

struct subject {
	struct topology *topology;
	struct route_file file[SUBJECT_FILES_MAX];
	unsigned files;
};

/* Takes argv[*i], and what belongs to it: TOPO, then ROUTES..., and '--without WHAT'. EXIT_DONE, or
 * says what is wrong. */
int subject_argument(struct subject_request *request, int *i, int argc, char **argv);

/* EXIT_DONE, and then the caller closes; or says why not. */
int subject_open(struct subject *subject, const struct subject_request *request);
void subject_close(struct subject *subject);
