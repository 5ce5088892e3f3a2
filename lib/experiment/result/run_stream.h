/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The samples of a run in progress, in a file that the run appends to and another process of this
 * machine reads: a head, then a record for each sample, with the values of links in those for which
 * there is room (run_link_series.h). The file is in memory (memfd_create()), so the run never waits
 * for its reader, and the number of samples is bounded (RUN_SAMPLES_MAX, RUN_LINK_VALUES_MAX). Both
 * processes must be the same build, which the head records. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "run_link_series.h"
#include "run_result.h"

struct run_stream {
	int fd;                       /* the caller's */
	struct run_link_series links; /* ways and vcs; no values of its own */
	uint64_t samples;             /* written, or read */
	uint64_t with_values;         /* how many of them have values */
	bool failed;                  /* to write: nothing more is written */
};

/* Writes the head of an empty file. Returns 0, or -errno with error set: -EINVAL if 'fd' is not an
 * open file. */
int run_stream_begin(
	struct run_stream *stream, int fd, uint32_t ways, uint32_t vcs, struct error *error);
/* The next sample has values of links. */
bool run_stream_has_values(const struct run_stream *stream);
/* Appends a sample; 'values' has the values of all directions, or is NULL. A full disk ends the
 * stream. */
void run_stream_add(
	struct run_stream *stream, const struct run_sample *sample, const uint32_t *values);

/* Reads the head. Returns 1, 0 if it has not been written yet, or -EINVAL if it is from another
 * build. */
int run_stream_open(struct run_stream *stream, int fd);
/* Reads the next sample if it is complete; 'values' has room for the values of all directions, or
 * is NULL. */
bool run_stream_next(struct run_stream *stream, struct run_sample *sample, uint32_t *values);
