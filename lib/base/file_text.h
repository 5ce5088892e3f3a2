/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads a whole file into memory. */

#include <stddef.h>
#include <stdio.h>

#include "weft_error.h"

/* Reads a file or pipe of at most about 'max' bytes and appends a 0 byte that '*length' does not
 * include. The caller frees the text. On failure, returns NULL and sets 'error' and errno: EINVAL
 * for a bad request (a folder, a file that is too large), ENOENT, EACCES, ENOMEM, … */
char *file_text_read(const char *path, size_t max, size_t *length, struct error *error);

/* The same for a file that may be larger than RAM. The caller frees the text with spill_free(). */
char *file_text_read_spill(const char *path, size_t max, size_t *length, struct error *error);

/* Opens the file for reading. A FIFO without a writer is refused with EINVAL, because opening it
 * would block. On failure, returns NULL and sets 'error' and errno as above. */
FILE *file_text_open(const char *path, struct error *error);
