/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The matrix of an all-to-allv: a file of lines SRC DST BYTES, ranks by number, '#' for comments.
 * If a pair has several lines, the last one counts; pairs without a line have 0. */

#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"

#define GOAL_MATRIX_RANKS_MAX 8192

/* [from * ranks + to]. The caller frees '*matrix' in every case. 0, or a negative errno and error.
 */
int goal_matrix_load(const char *path, uint32_t ranks, uint64_t **matrix, struct error *error);
/* The same for a text in memory that ends with a 0 byte, which is changed; 'matrix' has only
 * zeros. */
int goal_matrix_parse(char *text, size_t length, const char *path, uint32_t ranks, uint64_t *matrix,
	struct error *error);
