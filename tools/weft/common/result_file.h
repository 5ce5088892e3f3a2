/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads result files of runs ("weft": "result/1"). A sweep seals the results of its points with
 * "sum", a checksum of everything except "wall", which detects results that were edited after
 * weft-fabric wrote them. */

#include <jansson.h>
#include <stdbool.h>

#include "base/weft_error.h"

/* Returns NULL with error (may be NULL) and errno set: EINVAL if the file is not a result of this
 * version or has impossible values, EBADMSG if it was changed after sealing, or the errno from
 * opening it. */
json_t *result_file_load(const char *path, struct error *error);

/* Appends "sum" to the file from which 'result' was loaded. Returns 0, or -errno with error set. */
int result_file_seal(const char *path, const json_t *result, struct error *error);
