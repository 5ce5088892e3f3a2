/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Results of runs in files ("weft": "result/1"), for the commands that read them. A sweep seals the
 * results of its points with "sum", a checksum of everything except "wall". It detects results that
 * were edited after weft-fabric wrote them. */

#include <jansson.h>
#include <stdbool.h>

#include "base/weft_error.h"

/* Returns NULL with fault (may be NULL) and errno set: EINVAL if it is not a result of this version
 * or has impossible values, EBADMSG if it was changed after it was sealed, or the error from
 * opening it. */
json_t *result_file_load(const char *path, struct error *error);

/* Adds "sum" to the end of the file that 'result' was loaded from. Returns 0 or -errno with error
 * set. */
int result_file_seal(const char *path, const json_t *result, struct error *error);
