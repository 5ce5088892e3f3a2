/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The command line of weft-fabric, after EAL's "--". */

#include <stdbool.h>

#include "base/weft_error.h"
#include "capture/capture_filter.h"
#include "capture/capture_rotation.h"
#include "process/program.h"

#define OPTIONS_SETS_MAX     64
#define OPTIONS_CAPTURES_MAX 32

struct job_runs;

struct options {
	const char *run_file;
	const char *clock;                 /* "virtual" or "real"; NULL: as in the file */
	const char *dilation;              /* a number or "auto"; NULL: as in the file */
	const char *set[OPTIONS_SETS_MAX]; /* KEY=VALUE */
	unsigned sets;
	struct {
		char port[72];
		const char *path;
	} capture[OPTIONS_CAPTURES_MAX];
	unsigned captures;
	const char *filter, *where;           /* filter expressions of captures; NULL: all frames */
	struct capture_filter capture_filter; /* parsed from 'filter' and 'where' */
	const char *rotate;                   /* size or time per capture file; NULL: one file */
	struct capture_limits limits;         /* parsed from 'rotate' */
	const char *json, *csv, *flows;       /* output files; NULL: none; "-": standard output */
	unsigned lcores;
	unsigned workers;          /* 0: not specified, 1 */
	unsigned snap_bytes;       /* 0: whole frames */
	int live;                  /* descriptor for run_stream.h; 0: none */
	struct run_stream *stream; /* stream on 'live' once writing has started; NULL: none */
	struct job_runs *jobs;     /* baseline runs (simulated_run.h); NULL: none */
	bool mpi;                  /* the process is one of MPI's ranks, or the only one */
	bool quiet;
};

/* Name of the program in its messages. */
#define PROGRAM program_name("weft-fabric")

/* Returns the filter of captures; NULL: all frames. */
static inline const struct capture_filter *options_filter(const struct options *options)
{
	return options->filter != NULL || options->where != NULL ? &options->capture_filter : NULL;
}

/* Parses main()'s 'argc' and 'argv'. For help and usage errors exits with 0 or 2. */
void options_parse(struct options *options, int argc, char **argv);
