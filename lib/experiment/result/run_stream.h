/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The samples of a run in progress. The run appends them to a file, which another process of this
 * machine reads. The file has a header and one record per sample; a record includes link values
 * while these fit (run_link_series.h). The file is in memory (memfd_create()), so the run never
 * waits for its reader, and the number of samples is bounded (RUN_SAMPLES_MAX,
 * RUN_LINK_VALUES_MAX). Both processes must be the same build, which the header records. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "run_link_series.h"
#include "run_result.h"

struct run_stream {
	int fd;                       /* owned by the caller */
	struct run_link_series links; /* only 'ways' and 'vcs' are used */
	uint64_t samples;             /* number of samples written, or read */
	uint64_t with_values;         /* number of samples with link values */
	bool failed;                  /* a write failed; later samples are not written */
};

/* Writes the header to an empty file. Returns 0, or -errno with error set; -EINVAL if 'fd' is not
 * an open, empty file. */
int run_stream_begin(
	struct run_stream *stream, int fd, uint32_t ways, uint32_t vcs, struct error *error);
/* Returns true if the next sample has link values. */
bool run_stream_has_values(const struct run_stream *stream);
/* Appends a sample; 'values' holds the values of all directions, or is NULL. A write error, such as
 * a full disk, ends the stream. */
void run_stream_add(
	struct run_stream *stream, const struct run_sample *sample, const uint32_t *values);

/* Reads the header. Returns 1, 0 if it is not written yet, or -EINVAL: a different build wrote it.
 */
int run_stream_open(struct run_stream *stream, int fd);
/* Reads the next sample. Returns false if it is not complete yet. 'values' is NULL, or has space
 * for the link values of all directions. */
bool run_stream_next(struct run_stream *stream, struct run_sample *sample, uint32_t *values);
