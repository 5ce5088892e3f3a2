/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads a whole file into memory. */

#include <stddef.h>
#include <stdio.h>

#include "weft_error.h"

/* Reads a file, which may be a pipe, of about 'max' bytes at most, and appends a 0 byte that is not
 * included in the length. Returns NULL with 'error' and errno: EINVAL for a bad request (a folder,
 * a file that is too large), ENOENT, EACCES, ENOMEM, … The caller frees it. */
char *file_text_read(const char *path, size_t max, size_t *length, struct error *error);

/* The same for a file that may be larger than RAM; the caller frees the text with spill_free(). */
char *file_text_read_spill(const char *path, size_t max, size_t *length, struct error *error);

/* Opens the file for reading. A FIFO without a writer is refused (EINVAL), because opening it would
 * wait for one. Returns NULL with 'error' and errno as above. */
FILE *file_text_open(const char *path, struct error *error);
