/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A whole file in memory. */

#include <stddef.h>

#include "fault.h"

/* The contents of a file, which may be a pipe, of 'most' bytes or a little more. NULL with 'fault'
 * and errno: EINVAL where the request is wrong (a folder, a file beyond all measure), ENOENT,
 * EACCES, ENOMEM, … The caller frees it. */
char *file_text_read(const char *path, size_t most, size_t *length, struct fault *fault);
